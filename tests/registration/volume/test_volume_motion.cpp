// Registration of rotated volumes with exactly known transforms, on every device.
#include "support/devices.hpp"
#include "support/rotated_volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace {

using test::RotatedPairSpec;
using warpalign::Device;
using warpalign::Error;
using warpalign::Motion;
using warpalign::Point3;
using warpalign::Shape;
using warpalign::VolumeRegistrar;
using warpalign::VolumeRegistration;
using warpalign::VolumeRegistrationOptions;

// At the corners, in voxels. The cubic spline interpolates blobs of 1.5 voxels and more to a few
// thousandths of a voxel, and over a ball of radius 16 a rotation is as exact as a shift.
constexpr double clean_off = 0.02;
constexpr double noisy_off = 0.15;

VolumeRegistrationOptions options_for(const RotatedPairSpec& spec, Motion motion = Motion::rigid) {
  VolumeRegistrationOptions options;
  options.motion = motion;
  options.reference_spacing = spec.reference_spacing;
  options.moving_spacing = spec.moving_spacing;
  return options;
}

VolumeRegistration align(const Device& device, const RotatedPairSpec& spec,
                         const VolumeRegistrationOptions& options) {
  const auto pair = test::draw_rotated_pair(spec);
  return register_volumes(device, test::view_of(pair.reference, spec.reference),
                          test::view_of(pair.moving, spec.moving), options);
}

void check_found(const VolumeRegistration& result, const RotatedPairSpec& spec, double off) {
  CAPTURE(result.rotation_deg);
  CAPTURE(result.significance);
  CAPTURE(result.translation.x);
  CAPTURE(result.translation.y);
  CAPTURE(result.translation.z);
  CHECK(test::corner_error(spec, result.matrix.m) <= off);
  CHECK(result.reliable);
  CHECK(result.refined);
}

RotatedPairSpec rotated_pair_spec(const Point3& axis, double degrees, const Point3& shift = {},
                                  std::uint32_t seed = 3) {
  RotatedPairSpec spec;
  spec.transform = test::turn(axis, degrees, shift);
  spec.seed = seed;
  return spec;
}

}  // namespace

TEST_CASE("rotated volumes: small rotations") {
  test::on_every_device([](const Device& device) {
    const RotatedPairSpec spec = rotated_pair_spec({1, 2, -1}, 6, {1.5, -0.75, 2.25});
    VolumeRegistrationOptions options = options_for(spec);
    options.max_rotation = 15;
    const auto result = align(device, spec, options);
    check_found(result, spec, clean_off);
    // A fiftieth of a voxel along the arc at a radius of 27.
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

TEST_CASE("rotated volumes: any orientation") {
  test::on_every_device([](const Device& device) {
    for (const RotatedPairSpec& spec :
         {rotated_pair_spec({1, 0, 0}, 90, {}, 5), rotated_pair_spec({3, -1, 2}, 47, {2, -3, 1}, 6),
          rotated_pair_spec({-1, 1, 4}, 133, {-1.5, 0, 3.25}, 7),
          rotated_pair_spec({1, 1, 0.2}, 180, {0, 2, 0}, 8)}) {
      CAPTURE(spec.seed);
      check_found(align(device, spec, options_for(spec)), spec, clean_off);
    }
  });
}

TEST_CASE("rotated volumes: anisotropic voxels, which differ between the volumes") {
  test::on_every_device([](const Device& device) {
    RotatedPairSpec spec = rotated_pair_spec({1, 0.5, -2}, 71, {1, -2, 0.5}, 9);
    spec.reference = {52, 48, 20};
    spec.reference_spacing = {1, 1, 2.5};
    spec.moving = {36, 56, 42};
    spec.moving_spacing = {1.4, 0.9, 1.2};
    spec.blob_sigma = 2.2;  // 0.9 voxels along the coarsest axis
    // The cubic spline interpolates blobs of 0.9 voxels to a few hundredths of a voxel.
    check_found(align(device, spec, options_for(spec)), spec, 0.1);
    // With the spacing ignored, no rotation fits the same volumes.
    RotatedPairSpec blind = spec;
    blind.reference_spacing = blind.moving_spacing = {1, 1, 1};
    const auto pair = test::draw_rotated_pair(spec);
    CHECK_FALSE(register_volumes(device, test::view_of(pair.reference, spec.reference),
                                 test::view_of(pair.moving, spec.moving), options_for(blind))
                    .reliable);
  });
}

TEST_CASE("rotated volumes: translations between unequal voxels") {
  test::on_every_device([](const Device& device) {
    RotatedPairSpec spec = rotated_pair_spec({1, 0, 0}, 0, {2.5, -1.25, 3}, 11);
    spec.moving = {40, 32, 28};
    spec.moving_spacing = {0.8, 1, 1.25};
    spec.blob_sigma = 2;
    const auto result = align(device, spec, options_for(spec, Motion::translation));
    check_found(result, spec, clean_off);
    CHECK(result.rotation_deg == 0);
    CHECK(result.matrix.m[0] == doctest::Approx(1.25));
  });
}

TEST_CASE("rotated volumes: scales and shears") {
  test::on_every_device([](const Device& device) {
    RotatedPairSpec spec;
    spec.seed = 13;
    spec.transform = test::turn({2, 1, 0.5}, 52, {1, 2, -1.5}, 1.08);
    const auto similar = align(device, spec, options_for(spec, Motion::similarity));
    check_found(similar, spec, clean_off);
    // A change of scale by 1e-3 moves the corners by 0.03 voxels.
    CHECK(similar.scale == doctest::Approx(1.08).epsilon(1e-3));
    CHECK(similar.rotation_deg == doctest::Approx(52).epsilon(1e-3));
    for (std::size_t i = 0; i < 3; ++i) {
      spec.transform[4 * i] *= 0.94;
      spec.transform[4 * i + 1] += 0.06 * spec.transform[4 * i + 2];
    }
    check_found(align(device, spec, options_for(spec, Motion::affine)), spec, clean_off);
  });
}

TEST_CASE("rotated volumes: noise, and a registrar that is used again") {
  test::on_every_device([](const Device& device) {
    RotatedPairSpec spec = rotated_pair_spec({0.3, 1, 1}, 160, {2, 1, -2}, 15);
    spec.noise = 0.3;
    VolumeRegistrar registrar(device, options_for(spec));
    const auto pair = test::draw_rotated_pair(spec);
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    const auto first = registrar.align(test::view_of(pair.moving, spec.moving));
    check_found(first, spec, noisy_off);
    const RotatedPairSpec still = rotated_pair_spec({1, 0, 0}, 0);
    check_found(registrar.align(test::view_of(pair.reference, spec.reference)), still, clean_off);
    const auto again = registrar.align(test::view_of(pair.moving, spec.moving));
    CHECK(again.matrix.m == first.matrix.m);
    CHECK(again.significance == first.significance);
  });
}

TEST_CASE("rotated volumes: unrelated ones and those beyond the range are refused") {
  test::on_every_device([](const Device& device) {
    for (std::uint32_t seed = 30; seed < 33; ++seed) {
      RotatedPairSpec spec = rotated_pair_spec({1, 1, 0}, 30, {}, seed);
      spec.unrelated = true;
      spec.object_radius = seed == 32 ? 12 : 0;
      const auto result = align(device, spec, options_for(spec));
      CAPTURE(result.significance);
      CHECK_FALSE(result.reliable);
    }
    const RotatedPairSpec spec = rotated_pair_spec({1, 1, 0}, 60);
    VolumeRegistrationOptions options = options_for(spec);
    options.max_rotation = 20;
    const auto narrow = align(device, spec, options);
    CHECK_FALSE(narrow.reliable);
    CHECK(narrow.rotation_deg <= 21);
  });
}

TEST_CASE("rotated volumes: invalid options are refused") {
  test::on_every_device([](const Device& device) {
    const auto refused = [&](const char* words, auto change) {
      VolumeRegistrationOptions options;
      options.motion = Motion::rigid;
      change(options);
      try {
        const VolumeRegistrar registrar(device, options);
        FAIL("not refused");
      } catch (const Error& error) {
        CAPTURE(std::string(error.what()));
        CHECK(std::string(error.what()).find(words) != std::string::npos);
      }
    };
    refused("motion", [](auto& options) { options.motion = Motion::homography; });
    refused("max_rotation", [](auto& options) { options.max_rotation = 0; });
    refused("max_rotation", [](auto& options) { options.max_rotation = 181; });
    refused("max_rotation", [](auto& options) { options.max_rotation = NAN; });
    refused("do not set max_rotation", [](auto& options) {
      options.motion = Motion::translation;
      options.max_rotation = 30;
    });
    refused("spacing", [](auto& options) { options.reference_spacing.z = 0; });
    refused("spacing", [](auto& options) { options.moving_spacing.x = -1; });
    refused("spacing", [](auto& options) { options.moving_spacing.y = INFINITY; });
    refused("1000", [](auto& options) { options.moving_spacing = {1001, 1, 1}; });
  });
}
