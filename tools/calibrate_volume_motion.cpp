// Not a test: registers many pairs of volumes that turn by known rotations, and many unrelated
// ones, and prints statistics of the results.
//
// calibrate_volume_motion DEVICE PAIRS [MAX_ROTATION [MODALITY [masked]]]: that many pairs of each
// kind. MODALITY is same, other or auto: with the latter two the volumes show tissues in other
// contrasts. "masked": something bright that stays where it is lies under a mask of both volumes.
#include "support/rotated_volumes.hpp"
#include "support/tissues.hpp"
#include "support/volume_masks.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using warpalign::Modality;
using warpalign::Motion;
using warpalign::Shape;
using warpalign::VolumeRegistration;

// Voxels, at the corners. Borders beside one another draw those of other contrasts to themselves.
double found_within(Modality modality) { return modality == Modality::same ? 0.5 : 1.5; }

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

struct Tally {
  int pairs = 0, found = 0, reliable = 0, wrong = 0;  // wrong: reliable, but not found
  double worst = 0;                                   // error of what is reliable
  double within = 0.5;                                // what counts as found
  std::vector<double> errors, right, other, seconds;  // of what was found; significances

  void add(const VolumeRegistration& result, const test::RotatedPairSpec& spec, double time) {
    ++pairs;
    const double error = test::corner_error(spec, result.matrix.m);
    const bool is_found = !spec.unrelated && error <= within;
    found += is_found;
    reliable += result.reliable;
    wrong += result.reliable && !is_found;
    if (result.reliable && !spec.unrelated) worst = std::max(worst, error);
    if (is_found) errors.push_back(error);
    (is_found ? right : other).push_back(result.significance);
    seconds.push_back(time);
  }
  void print(const std::string& name) const {
    std::printf("%-34s %4d %5d %5d %5d  %7.4f %7.4f %7.4f  %6.1f %6.1f  %6.1f %6.1f  %6.2f\n",
                name.c_str(), pairs, found, reliable, wrong, quantile(errors, 0.5),
                quantile(errors, 0.95), worst, quantile(right, 0), quantile(right, 0.5),
                quantile(other, 0.5), quantile(other, 1), quantile(seconds, 0.5));
    std::fflush(stdout);
  }
};

/// A rotation about any axis and a shift of up to `share` of the side.
std::array<double, 12> random_motion(std::mt19937& engine, double max_rotation, double reach) {
  const auto unit = [&] { return static_cast<double>(engine()) / 2147483648.0 - 1; };
  warpalign::Point3 axis{unit(), unit(), unit()};
  axis.x += axis.x * axis.x + axis.y * axis.y + axis.z * axis.z > 1e-3 ? 0 : 1;
  const double angle = max_rotation * std::abs(unit());
  return test::turn(axis, angle, {reach * unit(), reach * unit(), reach * unit()});
}

/// How the volumes of a pair are shown.
struct Scenes {
  Modality modality = Modality::same;
  bool masked = false;
};

/// Leaves out what stays, a box of 29 % of the volume.
test::VolumeMask mask_of(const Shape& shape) {
  const auto at = [](double share, std::int64_t n) {
    return static_cast<std::int64_t>(std::ceil(share * static_cast<double>(n)));
  };
  return test::mask_of(shape, {{at(0.2, shape.width), at(0.2, shape.height), 0},
                               {at(0.65, shape.width), at(0.85, shape.height), shape.depth}});
}

struct Timed {
  VolumeRegistration result;
  double seconds;  ///< of align() alone
};

template <class Align>
Timed timed(const Align& align) {
  const auto start = std::chrono::steady_clock::now();
  VolumeRegistration result = align();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return {std::move(result), time.count()};
}

/// Draws a pair and registers it.
Timed align(warpalign::VolumeRegistrar& registrar, const test::RotatedPairSpec& spec,
            const Scenes& scenes) {
  auto pair = test::draw_rotated_pair(spec);
  if (scenes.modality != Modality::same) test::apply_other_contrasts(pair, spec.seed);
  if (!scenes.masked) {
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    return timed([&] { return registrar.align(test::view_of(pair.moving, spec.moving)); });
  }
  constexpr float bright = 5;
  const test::VolumeMask reference_mask = mask_of(spec.reference);
  const test::VolumeMask moving_mask = mask_of(spec.moving);
  pair.reference = test::under_mask(pair.reference, reference_mask, bright);
  pair.moving = test::under_mask(pair.moving, moving_mask, bright);
  registrar.set_reference(test::view_of(pair.reference, spec.reference),
                          test::view_of(reference_mask, spec.reference));
  return timed([&] {
    return registrar.align(test::view_of(pair.moving, spec.moving),
                           test::view_of(moving_mask, spec.moving));
  });
}

Tally run(warpalign::VolumeRegistrar& registrar, test::RotatedPairSpec spec, const Scenes& scenes,
          double max_rotation, int pairs, std::mt19937& engine) {
  Tally tally;
  tally.within = found_within(scenes.modality);
  const double reach = 0.12 * static_cast<double>(spec.reference.width) * spec.reference_spacing.x;
  for (int i = 0; i < pairs; ++i) {
    spec.seed = static_cast<std::uint32_t>(engine() % 400'000'000);
    spec.transform = random_motion(engine, max_rotation, reach);
    const Timed found = align(registrar, spec, scenes);
    tally.add(found.result, spec, found.seconds);
  }
  return tally;
}

struct Kind {
  const char* name;
  Shape shape;
  double sigma, noise, radius;
};

std::vector<Kind> kinds_of(Modality modality) {
  if (modality != Modality::same) {
    return {{"32^3 s2", {32, 32, 32}, 2, 0, 0},
            {"32^3 s2 noise .05", {32, 32, 32}, 2, 0.05, 0},
            {"32^3 s3", {32, 32, 32}, 3, 0, 0},
            {"56^3 s2 noise .05", {56, 56, 56}, 2, 0.05, 0}};
  }
  return {{"32^3 s1.5", {32, 32, 32}, 1.5, 0, 0},
          {"32^3 s3", {32, 32, 32}, 3, 0, 0},
          {"32^3 s1.5 noise .5", {32, 32, 32}, 1.5, 0.5, 0},
          {"32^3 object s1.5", {32, 32, 32}, 1.5, 0, 12},
          {"64x56x48 s2", {64, 56, 48}, 2, 0, 0},
          {"64^3 s4 noise 1", {64, 64, 64}, 4, 1, 0},
          {"64^3 object s3", {64, 64, 64}, 3, 0.1, 24}};
}

void calibrate(const std::string& device_name, int pairs, double max_rotation,
               const Scenes& scenes) {
  const auto device = warpalign::open_device(device_name);
  std::printf("%s (%s, driver %s), %d pairs of each kind, rotations up to %g degrees\n",
              device.info().name.c_str(), device.info().id.c_str(), device.info().driver.c_str(),
              pairs, max_rotation);
  std::printf("%-34s %4s %5s %5s %5s  %7s %7s %7s  %6s %6s  %6s %6s  %6s\n", "", "n", "found",
              "reli.", "wrong", "err 50%", "err 95%", "worst", "sigmin", "50%", "oth50%", "max",
              "time");
  warpalign::VolumeRegistrationOptions options;
  options.motion = Motion::rigid;
  options.max_rotation = max_rotation;
  options.modality = scenes.modality;
  warpalign::VolumeRegistrar registrar(device, options);
  std::mt19937 engine(20261123);
  for (const Kind& kind : kinds_of(scenes.modality)) {
    test::RotatedPairSpec spec;
    spec.reference = spec.moving = kind.shape;
    spec.blob_sigma = kind.sigma;
    spec.noise = kind.noise;
    spec.object_radius = kind.radius;
    run(registrar, spec, scenes, max_rotation, pairs, engine).print(kind.name);
    spec.unrelated = true;
    run(registrar, spec, scenes, max_rotation, pairs, engine)
        .print(std::string(kind.name) + " unrelated");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const double max_rotation = words.size() > 2 ? std::atof(words[2].c_str()) : 180;
  const std::map<std::string, Modality> modalities{
      {"same", Modality::same}, {"other", Modality::other}, {"auto", Modality::automatic}};
  const auto modality = modalities.find(words.size() > 3 ? words[3] : "same");
  const bool masked = words.size() > 4 && words[4] == "masked";
  if (words.size() < 2 || words.size() > (masked ? 5U : 4U) || std::atoi(words[1].c_str()) < 1 ||
      !(max_rotation > 0) || modality == modalities.end()) {
    std::fprintf(stderr,
                 "usage: calibrate_volume_motion DEVICE PAIRS [MAX_ROTATION [same|other|auto "
                 "[masked]]]\n");
    return 2;
  }
  try {
    calibrate(words[0], std::atoi(words[1].c_str()), max_rotation, {modality->second, masked});
  } catch (const warpalign::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
