// Registration of series of volumes with exactly known transforms, on every device.
#include "support/devices.hpp"
#include "support/rotated_volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/volume_series.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using test::RotatedPairSpec;
using warpalign::Device;
using warpalign::Error;
using warpalign::ErrorKind;
using warpalign::HomogeneousMatrix;
using warpalign::HostVolume;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Point3;
using warpalign::VolumeRegistration;
using warpalign::VolumeSeriesOptions;
using warpalign::VolumeSeriesRegistrar;

// At the corners, in voxels. The exact spline interpolates blobs of 2 voxels and more to a few
// thousandths of a voxel.
constexpr double off = 0.01;

/// A head of blobs with voxels of 3 x 3 x 3.5 mm, moved.
RotatedPairSpec head(const Point3& axis, double degrees, const Point3& shift_mm) {
  RotatedPairSpec spec;
  spec.reference = spec.moving = {36, 40, 28};
  spec.reference_spacing = spec.moving_spacing = {3, 3, 3.5};
  spec.transform = test::turn(axis, degrees, shift_mm);
  spec.blob_sigma = 7;
  spec.seed = 5;
  return spec;
}

VolumeSeriesOptions millimetres(Motion motion = Motion::rigid) { return {motion, {3, 3, 3.5}}; }

TEST_CASE("volume series: small motions from volume to volume, and the aligned volumes") {
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    VolumeSeriesRegistrar registrar(device, millimetres());
    for (const double amount : {0.0, 0.2, 0.35, 1.0, 0.9, -0.6, -1.3}) {
      CAPTURE(amount);
      const RotatedPairSpec spec =
          head({1, -2, 0.7}, 1.5 * amount, {1.2 * amount, -0.8 * amount, 0.9 * amount});
      const auto pair = test::draw_rotated_pair(spec);
      registrar.set_reference(test::view_of(pair.reference, spec.reference));
      // Where the volume before was; each pair has blobs of its own.
      registrar.start_from(HomogeneousMatrix::affine3(
          {1, 0, 0, 0.3 * amount, 0, 1, 0, -0.2 * amount, 0, 0, 1, 0.2 * amount}));
      std::vector<float> aligned(pair.moving.size());
      const VolumeRegistration found =
          registrar.align(test::view_of(pair.moving, spec.moving), aligned.data());
      CHECK(found.reliable);
      CHECK(found.refined);
      CHECK(found.motion == Motion::rigid);
      CHECK(test::corner_error(spec, found.matrix.m) <= off);
      CHECK(found.scale == doctest::Approx(1).epsilon(1e-9));
      // Blobs cut at the faces differ by interpolation.
      double largest = 0, spread = 0;
      for (std::int64_t z = 5; z < 23; ++z) {
        for (std::int64_t y = 5; y < 35; ++y) {
          for (std::int64_t x = 5; x < 31; ++x) {
            const auto i = static_cast<std::size_t>((z * 40 + y) * 36 + x);
            const double r = static_cast<double>(pair.reference[i]);
            largest = std::max(largest, std::abs(static_cast<double>(aligned[i]) - r));
            spread = std::max(spread, std::abs(r));
          }
        }
      }
      CHECK(largest <= 0.01 * spread);
    }
  }
}

TEST_CASE("volume series: another channel is warped as the volume was aligned") {
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    const RotatedPairSpec spec = head({1, -2, 0.7}, 2, {1.5, -0.8, 0.9});
    const auto pair = test::draw_rotated_pair(spec);
    VolumeSeriesRegistrar registrar(device, millimetres());
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    std::vector<float> aligned(pair.moving.size());
    const VolumeRegistration found =
        registrar.align(test::view_of(pair.moving, spec.moving), aligned.data());
    REQUIRE(found.reliable);
    std::vector<double> channel;
    for (const float value : pair.moving) channel.push_back(3 - 2 * static_cast<double>(value));
    std::vector<double> warped(channel.size());
    registrar.warp({channel.data(), PixelType::f64, spec.moving}, found.matrix, warped.data());
    double largest = 0;
    for (std::size_t i = 0; i < warped.size(); ++i) {
      // Beyond the volume, both are 0.
      const double expected = aligned[i] == 0 ? 0 : 3 - 2 * static_cast<double>(aligned[i]);
      largest = std::max(largest, std::abs(warped[i] - expected));
    }
    // Single precision of values up to about 5, prefiltered along three axes.
    CHECK(largest < 2e-5);
    CHECK_THROWS_AS(
        registrar.warp({channel.data(), PixelType::f64, spec.moving}, HomogeneousMatrix{}, nullptr),
        Error);
    CHECK_THROWS_AS(registrar.warp({channel.data(), PixelType::f64, {20, 20, 20}},
                                   HomogeneousMatrix{}, warped.data()),
                    Error);
    HomogeneousMatrix singular;
    singular.m[0] = 0;
    CHECK_THROWS_AS(
        registrar.warp({channel.data(), PixelType::f64, spec.moving}, singular, warped.data()),
        Error);
    VolumeSeriesRegistrar empty(device, millimetres());
    CHECK_THROWS_AS(empty.warp({channel.data(), PixelType::f64, spec.moving}, HomogeneousMatrix{},
                               warped.data()),
                    Error);
  }
}

TEST_CASE("volume series: a jump, and what does not belong to the series, are searched for") {
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    const RotatedPairSpec far = head({0.3, 1, 1}, 24, {9, -6, 5});
    const auto pair = test::draw_rotated_pair(far);
    VolumeSeriesRegistrar registrar(device, millimetres());
    registrar.set_reference(test::view_of(pair.reference, far.reference));
    VolumeRegistration found = registrar.align(test::view_of(pair.moving, far.moving));
    CHECK(found.reliable);
    CHECK(test::corner_error(far, found.matrix.m) <= 0.05);
    RotatedPairSpec other = far;
    other.unrelated = true;
    const auto unrelated = test::draw_rotated_pair(other);
    std::vector<float> aligned(unrelated.moving.size());
    found = registrar.align(test::view_of(unrelated.moving, other.moving), aligned.data());
    CHECK_FALSE(found.reliable);
    CHECK(aligned == unrelated.moving);  // not warped
    // The next fit starts where the last reliable volume was.
    found = registrar.align(test::view_of(pair.moving, far.moving));
    CHECK(found.reliable);
    CHECK(test::corner_error(far, found.matrix.m) <= 0.05);
  }
}

TEST_CASE("volume series: gain, offset, integers and noise") {
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    RotatedPairSpec spec = head({0, 0, 1}, 1, {0.5, 1, -0.5});
    spec.noise = 0.05;
    const auto pair = test::draw_rotated_pair(spec);
    std::vector<std::int16_t> integers;
    float least = pair.moving[0], most = pair.moving[0];
    for (const float value : pair.moving) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    for (const float value : pair.moving) {
      integers.push_back(
          static_cast<std::int16_t>(std::lround(300 + 2000 * (value - least) / (most - least))));
    }
    VolumeSeriesRegistrar registrar(device, millimetres());
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    std::vector<std::int16_t> aligned(integers.size());
    const VolumeRegistration found =
        registrar.align({integers.data(), PixelType::i16, spec.moving}, aligned.data());
    CHECK(found.reliable);
    // Noise of 5 % in both volumes, over 40 000 voxels.
    CHECK(test::corner_error(spec, found.matrix.m) <= 0.05);
    CHECK(aligned[static_cast<std::size_t>((14 * 40 + 20) * 36 + 18)] > 300);
  }
}

TEST_CASE("volume series: values beyond the volume are 0, except for a rim of a voxel") {
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    const RotatedPairSpec spec = head({0, 0, 1}, 0, {0, 0, -7.7});  // 2.2 planes
    const auto pair = test::draw_rotated_pair(spec);
    VolumeSeriesRegistrar registrar(device, millimetres(Motion::translation));
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    std::vector<float> aligned(pair.moving.size());
    const VolumeRegistration found =
        registrar.align(test::view_of(pair.moving, spec.moving), aligned.data());
    CHECK(found.translation.z == doctest::Approx(-2.2).epsilon(0.01));
    // Plane 0 is 2.2 and plane 1 1.2 planes below the volume; plane 2 is 0.2 below it.
    constexpr std::size_t plane = 36 * 40;
    for (const std::size_t z : {0, 1}) CHECK(aligned[z * plane + plane / 2] == 0);
    CHECK(aligned[2 * plane + plane / 2] != 0);
  }
}

TEST_CASE("volume series: voxels that are not finite are neither compared nor spread") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    VolumeSeriesRegistrar registrar(device, millimetres());
    const RotatedPairSpec spec = head({0, 1, 0.4}, 0.8, {0.9, -0.6, 0.4});
    const auto pair = test::draw_rotated_pair(spec);
    // A slab outside of a mask in the reference, and a box in the volume, which does not move
    // along.
    const auto with_hole = [&](std::vector<float> values, const auto& is_missing, float value) {
      std::size_t i = 0;
      for (std::int64_t z = 0; z < spec.moving.depth; ++z) {
        for (std::int64_t y = 0; y < spec.moving.height; ++y) {
          for (std::int64_t x = 0; x < spec.moving.width; ++x, ++i) {
            if (is_missing(x, y, z)) values[i] = value;
          }
        }
      }
      return values;
    };
    const auto slab = [](std::int64_t x, std::int64_t, std::int64_t) { return x < 6; };
    const auto box = [](std::int64_t x, std::int64_t y, std::int64_t z) {
      return x > 12 && x < 22 && y > 10 && y < 24 && z > 8 && z < 18;
    };
    const std::vector<float> reference = with_hole(pair.reference, slab, nan);
    const std::vector<float> moving = with_hole(pair.moving, box, nan);
    registrar.set_reference(test::view_of(reference, spec.reference));
    std::vector<float> aligned(moving.size());
    const VolumeRegistration found =
        registrar.align(test::view_of(moving, spec.moving), aligned.data());
    CHECK(found.reliable);
    CHECK(found.missing.reference == 6 * 40 * 28);
    CHECK(found.missing.moving == 9 * 13 * 9);
    CHECK(found.overlap < 0.9);
    // Fewer voxels count, and the cubic spline reaches a little of the filled ones.
    CHECK(test::corner_error(spec, found.matrix.m) <= 2 * off);
    // The same box of zeros draws the answer.
    const std::vector<float> dark = with_hole(pair.moving, box, -1000);
    CHECK(test::corner_error(spec, registrar.align(test::view_of(dark, spec.moving)).matrix.m) >
          3 * off);
    std::size_t missing = 0;
    for (const float value : aligned) missing += std::isnan(value) ? 1 : 0;
    // As many as the box has, up to its surface.
    CHECK(missing > 8 * 12 * 8);
    CHECK(missing < 10 * 14 * 10);
    const auto centre = static_cast<std::size_t>((13 * 40 + 17) * 36 + 17);
    CHECK(std::isnan(aligned[centre]));
    // The warped volume follows the reference outside the box.
    const auto outside = static_cast<std::size_t>((20 * 40 + 30) * 36 + 28);
    CHECK(std::isfinite(aligned[outside]));
    // A volume without holes afterwards.
    const VolumeRegistration whole = registrar.align(test::view_of(pair.moving, spec.moving));
    CHECK(whole.missing.moving == 0);
    CHECK(test::corner_error(spec, whole.matrix.m) <= 2 * off);
  }
}

TEST_CASE("volume series: wrong volumes are refused, and the next ones are registered") {
  const auto refused = [](ErrorKind kind, const std::string& words, const auto& call) {
    CAPTURE(words);
    bool thrown = false;
    try {
      call();
    } catch (const Error& error) {
      thrown = true;
      CHECK(error.kind() == kind);
      CHECK(error.message().find(words) != std::string::npos);
    }
    CHECK(thrown);
  };
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    constexpr ErrorKind argument = ErrorKind::invalid_argument, image = ErrorKind::invalid_image;
    refused(argument, "translation, rigid, similarity, affine, deformable", [&] {
      VolumeSeriesRegistrar wrong(device, {Motion::homography, {1, 1, 1}});
    });
    refused(argument, "spacing", [&] {
      VolumeSeriesRegistrar wrong(device, {Motion::rigid, {1, 0, 1}});
    });
    VolumeSeriesRegistrar registrar(device, millimetres());
    const RotatedPairSpec spec = head({0, 1, 0}, 0.5, {0.5, 0, 0});
    const auto pair = test::draw_rotated_pair(spec);
    const HostVolume moving = test::view_of(pair.moving, spec.moving);
    refused(argument, "set_reference", [&] { (void)registrar.align(moving); });
    refused(argument, "set_reference", [&] { registrar.start_from({}); });
    const std::vector<float> flat(pair.moving.size(), 7);
    refused(image, "the reference volume is constant",
            [&] { registrar.set_reference(test::view_of(flat, spec.moving)); });
    refused(argument, "set_reference", [&] { (void)registrar.align(moving); });
    registrar.set_reference(test::view_of(pair.reference, spec.reference));
    refused(image, "the volume is constant",
            [&] { (void)registrar.align(test::view_of(flat, spec.moving)); });
    const std::vector<float> empty(pair.moving.size(), std::numeric_limits<float>::quiet_NaN());
    refused(image, "no finite voxel",
            [&] { (void)registrar.align(test::view_of(empty, spec.moving)); });
    refused(argument, "but the reference is", [&] {
      (void)registrar.align({pair.moving.data(), PixelType::f32, {40, 36, 28}});
    });
    refused(argument, "no voxels", [&] {
      (void)registrar.align({nullptr, PixelType::f32, spec.moving});
    });
    CHECK(test::corner_error(spec, registrar.align(moving).matrix.m) <= off);
  }
}

}  // namespace
