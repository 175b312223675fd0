// Not a test: registers many pairs of volumes that turn by known rotations, and many unrelated
// ones, and prints statistics of the results.
//
// calibrate_volume_motion DEVICE PAIRS [MAX_ROTATION [KIND]]: that many pairs of each kind.
#include "support/turned_volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using warpalign::Motion;
using warpalign::Shape;
using warpalign::VolumeRegistration;

constexpr double found_within = 0.5;  // voxels, at the corners

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

struct Tally {
  int pairs = 0, found = 0, reliable = 0, wrong = 0;  // wrong: reliable, but not found
  std::vector<double> errors, right, other, seconds;  // of what was found; significances

  void add(const VolumeRegistration& result, const test::TurnedPairSpec& spec, double time) {
    ++pairs;
    const double error = test::corner_error(spec, result.matrix.m);
    const bool is_found = !spec.unrelated && error <= found_within;
    found += is_found;
    reliable += result.reliable;
    wrong += result.reliable && !is_found;
    if (is_found) errors.push_back(error);
    (is_found ? right : other).push_back(result.significance);
    seconds.push_back(time);
  }
  void print(const std::string& name) const {
    std::printf("%-34s %4d %5d %5d %5d  %7.4f %7.4f  %6.1f %6.1f  %6.1f %6.1f  %6.2f\n",
                name.c_str(), pairs, found, reliable, wrong, quantile(errors, 0.5),
                quantile(errors, 0.95), quantile(right, 0), quantile(right, 0.5),
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

Tally run(warpalign::VolumeRegistrar& registrar, test::TurnedPairSpec spec, double max_rotation,
          int pairs, std::mt19937& engine) {
  Tally tally;
  const double reach = 0.12 * static_cast<double>(spec.reference.width) * spec.reference_spacing.x;
  for (int i = 0; i < pairs; ++i) {
    spec.seed = static_cast<std::uint32_t>(engine() % 400'000'000);
    spec.transform = random_motion(engine, max_rotation, reach);
    const auto pair = test::draw_turned_pair(spec);
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    const auto start = std::chrono::steady_clock::now();
    const auto result = registrar.align(test::view_of(pair.moving, spec.moving));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    tally.add(result, spec, time.count());
  }
  return tally;
}

void calibrate(const std::string& device_name, int pairs, double max_rotation) {
  const auto device = warpalign::open_device(device_name);
  std::printf("%s (%s, driver %s), %d pairs of each kind, rotations up to %g degrees\n",
              device.info().name.c_str(), device.info().id.c_str(), device.info().driver.c_str(),
              pairs, max_rotation);
  std::printf("%-34s %4s %5s %5s %5s  %7s %7s  %6s %6s  %6s %6s  %6s\n", "", "n", "found", "reli.",
              "wrong", "err 50%", "err 95%", "sigmin", "50%", "oth50%", "max", "time");
  warpalign::VolumeRegistrationOptions options;
  options.motion = Motion::rigid;
  options.max_rotation = max_rotation;
  warpalign::VolumeRegistrar registrar(device, options);
  std::mt19937 engine(20261123);
  struct Kind {
    const char* name;
    Shape shape;
    double sigma, noise, radius;
  };
  for (const Kind& kind :
       {Kind{"32^3 s1.5", {32, 32, 32}, 1.5, 0, 0}, Kind{"32^3 s3", {32, 32, 32}, 3, 0, 0},
        Kind{"32^3 s1.5 noise .5", {32, 32, 32}, 1.5, 0.5, 0},
        Kind{"32^3 object s1.5", {32, 32, 32}, 1.5, 0, 12},
        Kind{"64x56x48 s2", {64, 56, 48}, 2, 0, 0}, Kind{"64^3 s4 noise 1", {64, 64, 64}, 4, 1, 0},
        Kind{"64^3 object s3", {64, 64, 64}, 3, 0.1, 24}}) {
    test::TurnedPairSpec spec;
    spec.reference = spec.moving = kind.shape;
    spec.blob_sigma = kind.sigma;
    spec.noise = kind.noise;
    spec.object_radius = kind.radius;
    run(registrar, spec, max_rotation, pairs, engine).print(kind.name);
    spec.unrelated = true;
    run(registrar, spec, max_rotation, pairs, engine).print(std::string(kind.name) + " unrelated");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double max_rotation = argc > 3 ? std::atof(argv[3]) : 180;
  if (argc < 3 || argc > 4 || std::atoi(argv[2]) < 1 || !(max_rotation > 0)) {
    std::fprintf(stderr, "usage: calibrate_volume_motion DEVICE PAIRS [MAX_ROTATION]\n");
    return 2;
  }
  try {
    calibrate(argv[1], std::atoi(argv[2]), max_rotation);
  } catch (const warpalign::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
