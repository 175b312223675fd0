// Pairs of volumes with exactly known truth.
#include "support/volume_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace test {

namespace {

using warpalign::Point3;
using warpalign::Shape;

struct Blob {
  std::array<double, 3> centre;
  double sigma, height;
};

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  double unit() { return (static_cast<double>(engine_()) + 0.5) / 4294967296.0; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  double normal() {
    return std::sqrt(-2 * std::log(unit())) * std::cos(6.283185307179586 * unit());
  }

 private:
  std::mt19937 engine_;
};

std::array<double, 3> sides_of(const Shape& shape) {
  return {static_cast<double>(shape.width), static_cast<double>(shape.height),
          static_cast<double>(shape.depth)};
}

/// Blobs wherever either volume can see them: on average one in a cube with a side of 3 sigma.
std::vector<Blob> blobs_for(const VolumePairSpec& spec, std::uint32_t seed) {
  const auto reference = sides_of(spec.reference);
  const auto moving = sides_of(spec.moving);
  const std::array<double, 3> shift{spec.shift.x, spec.shift.y, spec.shift.z};
  const double margin = 6 * spec.blob_sigma;
  std::array<double, 3> low{}, high{};
  double boxes = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] = std::min(0.0, -shift[axis]) - margin;
    high[axis] = std::max(reference[axis], moving[axis] - shift[axis]) + margin;
    boxes *= (high[axis] - low[axis]) / (3 * spec.blob_sigma);
  }
  Random random(seed);
  std::vector<Blob> blobs(static_cast<std::size_t>(boxes) + 1);
  for (Blob& blob : blobs) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      blob.centre[axis] = random.between(low[axis], high[axis]);
    }
    blob.sigma = spec.blob_sigma * random.between(1, 2);
    blob.height = random.between(-1, 1);
  }
  return blobs;
}

/// exp(-(i - centre)^2 / (2 sigma^2)) for i = 0 ... n - 1.
std::vector<double> profile(double centre, double sigma, std::int64_t n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double u = (static_cast<double>(i) - centre) / sigma;
    values[i] = std::exp(-u * u / 2);
  }
  return values;
}

/// Voxel p is the sum of the blobs at p - shift.
std::vector<double> draw(const std::vector<Blob>& blobs, const Shape& shape, const Point3& shift) {
  std::vector<double> volume(static_cast<std::size_t>(shape.pixels()), 0.5);
  constexpr double negligible = 1e-12;
  for (const Blob& blob : blobs) {
    const auto x = profile(blob.centre[0] + shift.x, blob.sigma, shape.width);
    const auto y = profile(blob.centre[1] + shift.y, blob.sigma, shape.height);
    const auto z = profile(blob.centre[2] + shift.z, blob.sigma, shape.depth);
    for (std::size_t k = 0; k < z.size(); ++k) {
      for (std::size_t j = 0; j < y.size(); ++j) {
        const double height = 0.5 * blob.height * z[k] * y[j];
        if (std::abs(height) < negligible) continue;
        double* row = volume.data() + (k * y.size() + j) * x.size();
        for (std::size_t i = 0; i < x.size(); ++i) row[i] += height * x[i];
      }
    }
  }
  return volume;
}

double deviation(const std::vector<double>& volume) {
  double mean = 0, squares = 0;
  for (const double v : volume) mean += v / static_cast<double>(volume.size());
  for (const double v : volume) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(volume.size()));
}

std::vector<float> noisy(const std::vector<double>& volume, double sigma, std::uint32_t seed) {
  Random random(seed);
  std::vector<float> values;
  values.reserve(volume.size());
  for (const double v : volume) {
    values.push_back(static_cast<float>(sigma > 0 ? v + sigma * random.normal() : v));
  }
  return values;
}

}  // namespace

HostPairOfVolumes with_noise(const std::vector<double>& reference,
                             const std::vector<double>& moving, double noise, std::uint32_t seed) {
  const double sigma = noise * deviation(reference);
  return {noisy(reference, sigma, seed + 1'000'000'000),
          noisy(moving, sigma, seed + 2'000'000'000)};
}

HostPairOfVolumes draw_pair(const VolumePairSpec& spec) {
  const auto blobs = blobs_for(spec, spec.seed);
  const auto others = spec.unrelated ? blobs_for(spec, spec.seed + 500'000'000) : blobs;
  const auto reference = draw(blobs, spec.reference, {});
  const auto moving = draw(others, spec.moving, spec.shift);
  return with_noise(reference, moving, spec.noise, spec.seed);
}

double distance(const Point3& a, const Point3& b) {
  return std::max({std::abs(a.x - b.x), std::abs(a.y - b.y), std::abs(a.z - b.z)});
}

}  // namespace test
