// Registration of volumes that turn, by transforms that are exactly known, on every device.
#include "support/devices.hpp"
#include "support/turned_volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace {

using test::TurnedPairSpec;
using warpalign::Device;
using warpalign::Error;
using warpalign::Motion;
using warpalign::Point3;
using warpalign::Shape;
using warpalign::VolumeRegistrar;
using warpalign::VolumeRegistration;
using warpalign::VolumeRegistrationOptions;

// At the corners, in voxels. Blobs of 1.5 voxels and more are rendered by the cubic spline to a few
// thousandths of a voxel, and over a ball of radius 16 a rotation is as exact as a shift.
constexpr double clean_off = 0.02;
constexpr double noisy_off = 0.15;

VolumeRegistrationOptions options_for(const TurnedPairSpec& spec, Motion motion = Motion::rigid) {
  VolumeRegistrationOptions options;
  options.motion = motion;
  options.reference_spacing = spec.reference_spacing;
  options.moving_spacing = spec.moving_spacing;
  return options;
}

VolumeRegistration align(const Device& device, const TurnedPairSpec& spec,
                         const VolumeRegistrationOptions& options) {
  const auto pair = test::draw_turned_pair(spec);
  return register_volumes(device, test::view_of(pair.reference, spec.reference),
                          test::view_of(pair.moving, spec.moving), options);
}

void check_found(const VolumeRegistration& result, const TurnedPairSpec& spec, double off) {
  CAPTURE(result.rotation_deg);
  CAPTURE(result.significance);
  CAPTURE(result.translation.x);
  CAPTURE(result.translation.y);
  CAPTURE(result.translation.z);
  CHECK(test::corner_error(spec, result.matrix.m) <= off);
  CHECK(result.reliable);
  CHECK(result.refined);
}

TurnedPairSpec turned(const Point3& axis, double degrees, const Point3& shift = {},
                      std::uint32_t seed = 3) {
  TurnedPairSpec spec;
  spec.transform = test::turn(axis, degrees, shift);
  spec.seed = seed;
  return spec;
}

}  // namespace

TEST_CASE("volumes that turn: small rotations") {
  test::on_every_device([](const Device& device) {
    const TurnedPairSpec spec = turned({1, 2, -1}, 6, {1.5, -0.75, 2.25});
    VolumeRegistrationOptions options = options_for(spec);
    options.max_rotation = 15;
    const auto result = align(device, spec, options);
    check_found(result, spec, clean_off);
    // By arcs of a fiftieth of a voxel at a radius of 27.
    CHECK(result.rotation_deg == doctest::Approx(6).epsilon(0.007));
    const double length = std::sqrt(6.0);
    CHECK(result.rotation_axis.x == doctest::Approx(1 / length).epsilon(0.01));
    CHECK(result.rotation_axis.y == doctest::Approx(2 / length).epsilon(0.01));
    CHECK(result.rotation_axis.z == doctest::Approx(-1 / length).epsilon(0.01));
    CHECK(result.scale == doctest::Approx(1).epsilon(1e-9));
    CHECK(result.translation.x == doctest::Approx(1.5).epsilon(0.01));
    CHECK(result.motion == Motion::rigid);
  });
}

TEST_CASE("volumes that turn: any orientation") {
  test::on_every_device([](const Device& device) {
    for (const TurnedPairSpec& spec :
         {turned({1, 0, 0}, 90, {}, 5), turned({3, -1, 2}, 47, {2, -3, 1}, 6),
          turned({-1, 1, 4}, 133, {-1.5, 0, 3.25}, 7), turned({1, 1, 0.2}, 180, {0, 2, 0}, 8)}) {
      CAPTURE(spec.seed);
      check_found(align(device, spec, options_for(spec)), spec, clean_off);
    }
  });
}
