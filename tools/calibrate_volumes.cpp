// Not a test: registers many pairs of volumes with known truth, and many unrelated ones, and prints
// statistics of the results.
//
// calibrate_volumes DEVICE PAIRS: that many related pairs of each kind, and as many unrelated ones.
#include "calibration_main.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/open_device.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using warpalign::Point3;
using warpalign::Shape;
using warpalign::VolumeRegistration;

// Found: within this along every axis. A refinement that converged to the right position is far
// nearer.
constexpr double found_within = 0.5;

/// How far volumes are shifted, in parts of each side.
enum class Reach { small, third, far, everywhere };
constexpr Reach reaches[] = {Reach::small, Reach::third, Reach::far, Reach::everywhere};
const char* name_of(Reach reach) {
  switch (reach) {
    case Reach::small:
      return "up to 2 voxels";
    case Reach::third:
      return "up to 30 %";
    case Reach::far:
      return "60 % along one axis";
    default:
      return "40 % along all";
  }
}

double part(Reach reach, std::size_t axis, double unit, double side) {
  const double sign = unit < 0 ? -1 : 1;
  switch (reach) {
    case Reach::small:
      return 2 * unit;
    case Reach::third:
      return 0.3 * side * unit;
    case Reach::far:
      return axis == 0 ? sign * (0.6 * side + unit) : 2 * unit;
    default:
      return sign * (0.4 * side - std::abs(unit));
  }
}

Point3 random_shift(Reach reach, const Shape& shape, std::mt19937& engine) {
  const auto unit = [&] { return static_cast<double>(engine()) / 2147483648.0 - 1; };
  const std::size_t turn = engine() % 3;
  const auto along = [&](std::size_t axis, std::int64_t side) {
    return part(reach, (axis + turn) % 3, unit(), static_cast<double>(side));
  };
  const double x = along(0, shape.width);
  const double y = along(1, shape.height);
  return {x, y, along(2, shape.depth)};
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

struct Tally {
  int pairs = 0, found = 0, reliable = 0, wrong = 0;  // wrong: reliable, but not found
  std::vector<double> errors, right, other;           // of what was found; significances

  void add(const VolumeRegistration& result, const test::VolumePairSpec& spec) {
    ++pairs;
    const double error = test::distance(result.translation, spec.shift);
    const bool is_found = !spec.unrelated && error <= found_within;
    found += is_found;
    reliable += result.reliable;
    wrong += result.reliable && !is_found;
    if (is_found) errors.push_back(error);
    (is_found ? right : other).push_back(result.significance);
  }
  void add(const Tally& more) {
    pairs += more.pairs;
    found += more.found;
    reliable += more.reliable;
    wrong += more.wrong;
    errors.insert(errors.end(), more.errors.begin(), more.errors.end());
    right.insert(right.end(), more.right.begin(), more.right.end());
    other.insert(other.end(), more.other.begin(), more.other.end());
  }
  void print(const std::string& name) const {
    std::printf("%-44s %5d %5d %5d %5d  %8.4f %8.4f  %7.1f %7.1f %7.1f  %6.1f %6.1f %6.1f\n",
                name.c_str(), pairs, found, reliable, wrong, quantile(errors, 0.5),
                quantile(errors, 0.95), quantile(right, 0), quantile(right, 0.05),
                quantile(right, 0.5), quantile(other, 0.5), quantile(other, 0.99),
                quantile(other, 1));
    std::fflush(stdout);
  }
};

Tally run(warpalign::VolumeRegistrar& registrar, test::VolumePairSpec spec, Reach reach, int pairs,
          std::mt19937& engine) {
  Tally tally;
  for (int i = 0; i < pairs; ++i) {
    spec.seed = static_cast<std::uint32_t>(engine() % 400'000'000);
    spec.shift = random_shift(reach, spec.reference, engine);
    const auto pair = test::draw_pair(spec);
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    tally.add(registrar.align(test::view_of(pair.moving, spec.moving)), spec);
  }
  return tally;
}

void calibrate(const std::string& device_name, int pairs) {
  const auto device = warpalign::open_device(device_name);
  std::printf("%s (%s, driver %s), %d pairs of each kind\n", device.info().name.c_str(),
              device.info().id.c_str(), device.info().driver.c_str(), pairs);
  std::printf("%-44s %5s %5s %5s %5s  %8s %8s  %7s %7s %7s  %6s %6s %6s\n", "", "pairs", "found",
              "reli.", "wrong", "err 50%", "err 95%", "sig min", "5%", "50%", "oth50%", "99%",
              "max");
  warpalign::VolumeRegistrar registrar(device);
  std::mt19937 engine(20261122);
  Tally related, unrelated;
  for (const Shape& shape : {Shape{32, 32, 32}, Shape{48, 40, 24}}) {
    for (const double sigma : {1.2, 2.0, 3.0}) {
      for (const double noise : {0.0, 0.3, 1.0}) {
        test::VolumePairSpec spec;
        spec.reference = spec.moving = shape;
        spec.blob_sigma = sigma;
        spec.noise = noise;
        for (const Reach reach : reaches) {
          const Tally tally = run(registrar, spec, reach, pairs, engine);
          char name[80];
          std::snprintf(name, sizeof name, "%s s%.1f n%.1f %s", to_string(shape).c_str(), sigma,
                        noise, name_of(reach));
          tally.print(name);
          related.add(tally);
        }
        spec.unrelated = true;
        unrelated.add(run(registrar, spec, Reach::third, 4 * pairs, engine));
      }
    }
  }
  related.print("all related");
  unrelated.print("all unrelated");
}

}  // namespace

int main(int argc, char** argv) {
  return test::calibration_main(argc, argv, "calibrate_volumes", calibrate);
}
