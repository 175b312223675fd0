// Suite: rigid registration of volumes, from any orientation or within a range.
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"
#include "io/in_parallel.hpp"

#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>

namespace warpalign::program::bench {
namespace {

using Vector = std::array<double, 3>;

/// A Gaussian blob, in units of the volume's side from its centre.
struct Blob {
  Vector centre;
  double sigma, height;
};

/// Draws coarse blobs everywhere, and finer ones as far as the voxels resolve them: about five of
/// each size reach any voxel.
std::vector<Blob> blobs_for(std::int64_t side) {
  constexpr double min_sigma = 1.2;  // voxels
  constexpr double density = 0.08;   // blobs in a cube of their sigma
  std::mt19937 random(14);
  const auto unit = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<Blob> blobs;
  for (const double sigma : {0.08, 0.04, 0.02}) {
    if (sigma * static_cast<double>(side) < min_sigma) break;
    for (int i = 0; i < static_cast<int>(density / (sigma * sigma * sigma)); ++i) {
      Blob blob{{}, sigma * (1 + unit()), 2 * unit() - 1};
      for (double& along : blob.centre) along = 1.8 * unit() - 0.9;
      blobs.push_back(blob);
    }
  }
  return blobs;
}

/// Rodrigues' formula, about (1, 2, 3).
std::array<double, 9> rotation(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double length = std::sqrt(14.0);
  const Vector n{1 / length, 2 / length, 3 / length};
  const double c = std::cos(angle), s = std::sin(angle);
  std::array<double, 9> r{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) r[3 * i + j] = (1 - c) * n[i] * n[j];
    r[4 * i] += c;
    r[3 * i + (i + 1) % 3] -= s * n[(i + 2) % 3];
    r[3 * i + (i + 2) % 3] += s * n[(i + 1) % 3];
  }
  return r;
}

/// The transform between the volumes, about their centres, in units of the side.
struct Truth {
  std::array<double, 9> rotation;
  Vector shift;

  [[nodiscard]] Vector operator()(const Vector& v) const {
    Vector moved = shift;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) moved[i] += rotation[3 * i + j] * v[j];
    }
    return moved;
  }
};

/// Adds the blobs, moved by `truth`, which keeps them round, to the planes from `low` to `high`
/// (exclusive).
void draw_planes(const std::vector<Blob>& blobs, std::int64_t side, const Truth& truth,
                 std::int64_t low, std::int64_t high, std::vector<float>& values) {
  constexpr double reach = 3.7;  // in sigma: a thousandth of the height
  const auto n = static_cast<double>(side);
  const std::array<std::pair<double, double>, 3> limits{
      {{0, n}, {0, n}, {static_cast<double>(low), static_cast<double>(high)}}};
  std::array<std::vector<double>, 3> profile;
  for (const Blob& blob : blobs) {
    const Vector centre = truth(blob.centre);
    std::array<std::int64_t, 3> first{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double at = centre[axis] * n + (n - 1) / 2;
      const double radius = reach * blob.sigma * n;
      const auto [from, to] = limits[axis];
      first[axis] = static_cast<std::int64_t>(std::ceil(std::clamp(at - radius, from, to)));
      const auto end = static_cast<std::int64_t>(std::ceil(std::clamp(at + radius, from, to)));
      profile[axis].clear();
      for (std::int64_t i = first[axis]; i < end; ++i) {
        const double u = (static_cast<double>(i) - at) / (blob.sigma * n);
        profile[axis].push_back(std::exp(-u * u / 2));
      }
    }
    for (std::size_t z = 0; z < profile[2].size(); ++z) {
      for (std::size_t y = 0; y < profile[1].size(); ++y) {
        const auto height = static_cast<float>(blob.height * profile[2][z] * profile[1][y]);
        float* row = values.data() +
                     ((first[2] + static_cast<std::int64_t>(z)) * side + first[1] +
                      static_cast<std::int64_t>(y)) *
                         side +
                     first[0];
        for (std::size_t x = 0; x < profile[0].size(); ++x) {
          row[x] += height * static_cast<float>(profile[0][x]);
        }
      }
    }
  }
}

/// Draws all planes on all cores, as 16 bits: a single core needs seconds for 256 x 256 x 256
/// voxels.
Pixels draw(const std::vector<Blob>& blobs, std::int64_t side, const Truth& truth) {
  std::vector<float> values(static_cast<std::size_t>(side * side * side));
  const std::int64_t parts = std::min<std::int64_t>(64, side);
  in_parallel(static_cast<std::size_t>(parts), [&](std::size_t part) {
    const auto i = static_cast<std::int64_t>(part);
    draw_planes(blobs, side, truth, side * i / parts, side * (i + 1) / parts, values);
  });
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(std::uint16_t));
  auto* voxels = reinterpret_cast<std::uint16_t*>(bytes->data());
  std::transform(values.begin(), values.end(), voxels, [](float value) {
    return static_cast<std::uint16_t>(std::clamp(32768.0F + 5000 * value, 0.0F, 65535.0F));
  });
  return bytes;
}

struct VolumePair {
  Pixels reference, moving;
  Truth truth;
};

/// A pair rotated by these degrees and shifted by a few hundredths of the side. The most recent
/// pair is cached, and its reference as long as the side stays the same.
const VolumePair& volume_pair(std::int64_t side, double degrees) {
  static std::pair<std::int64_t, double> kept_for;
  static VolumePair kept;
  if (kept_for == std::pair(side, degrees)) return kept;
  const auto blobs = blobs_for(side);
  if (kept_for.first != side) kept.reference = draw(blobs, side, {rotation(0), {}});
  kept.truth = {rotation(degrees), {0.031, -0.02, 0.043}};
  kept.moving = draw(blobs, side, kept.truth);
  kept_for = {side, degrees};
  return kept;
}

/// Registers a pair from host memory: each run uploads both volumes and computes everything, but
/// keeps the plans.
class VolumeWork final : public StageWork {
 public:
  VolumeWork(const Device& device, std::int64_t side, double degrees, double max_rotation)
      : StageWork(device,
                  {{PixelType::u16, {side, side, side}, volume_pair(side, degrees).reference},
                   {PixelType::u16, {side, side, side}, volume_pair(side, degrees).moving}},
                  {}),
        side_(side),
        truth_(volume_pair(side, degrees).truth) {
    options_.motion = Motion::rigid;
    options_.max_rotation = max_rotation;
  }

  void make_plans() override { registrar_.emplace(device(), options_); }
  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& /*stream*/) override {
    const VolumeRegistration found = align();
    const double half = static_cast<double>(side_ - 1) / 2;
    const auto n = static_cast<double>(side_);
    // The accuracy that the README states for rotated volumes.
    Verdict verdict{0, 0.05, "the pair's true transform: voxels at the corners"};
    for (unsigned corner = 0; corner < 8; ++corner) {
      Vector u{};
      for (std::size_t i = 0; i < 3; ++i) u[i] = (corner >> i & 1U) != 0 ? half : -half;
      const Vector truth = truth_({u[0] / n, u[1] / n, u[2] / n});
      double square = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const double* row = found.matrix.m.data() + 4 * i;
        double at = row[3];
        for (std::size_t j = 0; j < 3; ++j) at += row[j] * (u[j] + half);
        square += std::pow(at - (truth[i] * n + half), 2);
      }
      verdict.error = std::max(verdict.error, std::sqrt(square));
    }
    if (!found.reliable) verdict.error = NAN;
    return verdict;
  }

 private:
  void run_on(Stream& /*stream*/, Set& /*set*/) override { static_cast<void>(align()); }

  VolumeRegistration align() {
    const auto view = [&](std::size_t i) {
      return HostVolume{input(i).pixels->data(), PixelType::u16, input(i).shape};
    };
    registrar_->set_reference(view(0));
    return registrar_->align(view(1));
  }

  std::int64_t side_;
  Truth truth_;
  VolumeRegistrationOptions options_;
  std::optional<VolumeRegistrar> registrar_;
};

Case case_of(std::int64_t side, const char* name, double degrees, double max_rotation) {
  const Shape shape{side, side, side};
  const auto voxels = static_cast<std::size_t>(shape.pixels());
  Case made;
  made.suite = "volumes";
  made.name = name;
  made.size = shape;
  made.unit = "pairs";
  made.operations = 1;
  made.bytes = 4.0 * static_cast<double>(voxels);
  made.max_allocation = voxels * sizeof(float);
  made.memory_bytes = 10 * voxels * sizeof(float);
  made.on_device = [side, degrees, max_rotation](const Device& device) {
    return std::make_unique<VolumeWork>(device, side, degrees, max_rotation);
  };
  return made;
}

}  // namespace

std::vector<Case> volume_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  constexpr std::int64_t min_side =
      32;  // smaller volumes have too little texture for all orientations
  for (const std::int64_t side : sizes.volumes_or({256})) {
    if (side < min_side) continue;
    cases.push_back(case_of(side, "rigid, any orientation", 100, 180));
    cases.push_back(case_of(side, "rigid, within 30 degrees", 20, 30));
  }
  return cases;
}

}  // namespace warpalign::program::bench
