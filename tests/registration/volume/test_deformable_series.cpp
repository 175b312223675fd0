// Series of volumes that bend by known fields, and warps by any transform, on every device.
#include "registration/deformation/drawn_fields.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/volume_series.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using test::DrawnField;
using test::DrawnPair;
using warpalign::Device;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::HostVolume;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Point3;
using warpalign::Shape;
using warpalign::Transform;
using warpalign::VolumeRegistration;
using warpalign::VolumeSeriesOptions;
using warpalign::VolumeSeriesRegistrar;

const Shape shape{56, 52, 48};
constexpr std::int64_t margin = 12;

HostVolume volume_of(const std::vector<float>& voxels) {
  return {voxels.data(), PixelType::f32, shape};
}

VolumeSeriesOptions deformable() {
  VolumeSeriesOptions options;
  options.motion = Motion::deformable;
  return options;
}

/// Calls `use(i, p)` for each voxel away from the edges.
template <class Use>
void for_each_inner_voxel(const Use& use) {
  for (std::int64_t z = margin; z < shape.depth - margin; ++z) {
    for (std::int64_t y = margin; y < shape.height - margin; ++y) {
      for (std::int64_t x = margin; x < shape.width - margin; ++x) {
        use(static_cast<std::size_t>((z * shape.height + y) * shape.width + x),
            Point3{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
      }
    }
  }
}

/// The root of the mean squared distance from the true points.
double rms_error(const Transform& found, const DrawnField& field) {
  double sum = 0;
  double count = 0;
  for_each_inner_voxel([&](std::size_t /*i*/, const Point3& p) {
    const auto u = field({p.x, p.y, p.z});
    const Point3 q = found(p);
    sum += std::pow(q.x - p.x - u[0], 2) + std::pow(q.y - p.y - u[1], 2) +
           std::pow(q.z - p.z - u[2], 2);
    count += 1;
  });
  return std::sqrt(sum / count);
}

/// The root of the mean squared difference, where both are known.
double rms_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  double count = 0;
  for_each_inner_voxel([&](std::size_t i, const Point3& /*p*/) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return;
    sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    count += 1;
  });
  return std::sqrt(sum / count);
}

TEST_CASE("deformable series: finds the fields, and aligns the volumes") {
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    VolumeSeriesRegistrar registrar(device, deformable());
    std::vector<float> aligned(static_cast<std::size_t>(shape.pixels()));
    for (const std::uint32_t seed : {9U, 12U}) {
      CAPTURE(seed);
      const DrawnField field(3, 4, seed);
      // The pairs differ in content, so each has a reference of its own.
      const DrawnPair pair = test::drawn_pair(shape, field, 0, seed + 1);
      registrar.set_reference(volume_of(pair.reference));
      const VolumeRegistration found = registrar.align(volume_of(pair.moving), aligned.data());
      REQUIRE(found.reliable);
      REQUIRE(found.deformation);
      // As for a pair of volumes: half a percent of the shortest waves' length.
      CHECK(rms_error(found.deformation->transform, field) <= 0.05);
      CHECK(found.deformation->min_jacobian > 0.1);
      // The images have variance 1 and waves of 6 pixels and more, so that 0.05 pixels change them
      // by 0.03 at most; the affine transform alone leaves four times as much.
      CHECK(rms_difference(aligned, pair.reference) <= 0.03);
      std::vector<float> affine(aligned.size());
      registrar.warp(volume_of(pair.moving), found.matrix, affine.data());
      CHECK(rms_difference(affine, pair.reference) >= 0.1);
      // Another channel follows the same transform.
      std::vector<float> again(aligned.size());
      registrar.warp(volume_of(pair.moving), found.deformation->transform, again.data());
      CHECK(again == aligned);
    }
  }
}

TEST_CASE("deformable series: voxels that are missing do not count, and stay missing") {
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    const DrawnField field(3, 4, 9);
    DrawnPair pair = test::drawn_pair(shape, field, 0, 10);
    // A block of the volume, about its middle.
    std::size_t holes = 0;
    for_each_inner_voxel([&](std::size_t i, const Point3& p) {
      if (std::abs(p.x - 28) > 4 || std::abs(p.y - 26) > 4 || std::abs(p.z - 24) > 4) return;
      pair.moving[i] = std::numeric_limits<float>::quiet_NaN();
      ++holes;
    });
    VolumeSeriesRegistrar registrar(device, deformable());
    registrar.set_reference(volume_of(pair.reference));
    std::vector<float> aligned(pair.moving.size());
    const VolumeRegistration found = registrar.align(volume_of(pair.moving), aligned.data());
    REQUIRE(found.deformation);
    CHECK(found.missing.moving == static_cast<std::int64_t>(holes));
    const auto missing = std::count_if(aligned.begin(), aligned.end(),
                                       [](float value) { return !std::isfinite(value); });
    // The field moves the hole's faces by up to 4 voxels, and hardly changes its volume.
    CHECK(static_cast<double>(missing) > 0.7 * static_cast<double>(holes));
    CHECK(static_cast<double>(missing) < 1.4 * static_cast<double>(holes));
    CHECK(rms_difference(aligned, pair.reference) <= 0.05);
  }
}

TEST_CASE("volume series: warps by a transform are those by its matrix") {
  const double c = std::cos(0.05);
  const double n = std::sin(0.05);
  const HomogeneousMatrix matrix =
      HomogeneousMatrix::affine3({c, -n, 0, 3.5, n, c, 0, -2.25, 0, 0, 1, 1.75});
  const Transform turn = Transform::of_matrix(warpalign::TransformKind::affine, 3, matrix);
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    DrawnPair pair = test::drawn_pair(shape, DrawnField(3, 1, 3), 0, 4);
    for_each_inner_voxel([&](std::size_t i, const Point3& p) {
      if (p.x >= 20 && p.x <= 22 && p.y >= 20 && p.y <= 22 && p.z >= 20 && p.z <= 22) {
        pair.moving[i] = std::numeric_limits<float>::quiet_NaN();
      }
    });
    VolumeSeriesRegistrar registrar(device);
    registrar.set_reference(volume_of(pair.reference));
    std::vector<float> by_matrix(pair.moving.size());
    std::vector<float> by_transform(pair.moving.size());
    registrar.warp(volume_of(pair.moving), matrix, by_matrix.data());
    registrar.warp(volume_of(pair.moving), turn, by_transform.data());
    double largest = 0;
    std::size_t other_kind = 0;
    std::size_t outside = 0;
    for (std::size_t i = 0; i < by_matrix.size(); ++i) {
      const bool differs = std::isnan(by_matrix[i]) != std::isnan(by_transform[i]) ||
                           (by_matrix[i] == 0) != (by_transform[i] == 0);
      other_kind += differs ? 1 : 0;
      outside += by_matrix[i] == 0 ? 1 : 0;
      if (differs || std::isnan(by_matrix[i])) continue;
      largest = std::max(largest, std::abs(static_cast<double>(by_matrix[i]) -
                                           static_cast<double>(by_transform[i])));
    }
    // Coordinates of up to 56 voxels in single precision, times slopes of about 1 a voxel.
    CHECK(largest <= 1e-4);
    CHECK(other_kind == 0);
    CHECK(outside > 1000);
    CHECK(std::ranges::count_if(by_matrix, [](float value) { return std::isnan(value); }) > 0);
  }
}

TEST_CASE("deformable series: what cannot be is refused") {
  for (const Device& device : test::devices()) {
    CAPTURE(device.info().id);
    VolumeSeriesOptions options = deformable();
    options.grid_spacing = 1;
    CHECK_THROWS_AS(VolumeSeriesRegistrar(device, options), Error);
    options.grid_spacing = 5;
    options.bending_weight = 0;
    CHECK_THROWS_AS(VolumeSeriesRegistrar(device, options), Error);
    options.bending_weight = 1;
    options.motion = Motion::affine;
    CHECK_THROWS_AS(VolumeSeriesRegistrar(device, options), Error);
    options = deformable();
    options.grid_spacing = 100;
    VolumeSeriesRegistrar registrar(device, options);
    const DrawnPair pair = test::drawn_pair(shape, DrawnField(3, 1, 3), 0, 4);
    CHECK_THROWS_AS(registrar.set_reference(volume_of(pair.reference)), Error);
    VolumeSeriesRegistrar rigid(device);
    rigid.set_reference(volume_of(pair.reference));
    std::vector<float> aligned(pair.moving.size());
    CHECK_THROWS_AS(
        rigid.warp(volume_of(pair.moving), Transform::affine(warpalign::Affine{}), aligned.data()),
        Error);
    CHECK_THROWS_AS(
        rigid.warp(volume_of(pair.moving), Transform::translation(Point3{1, 0, 0}), nullptr),
        Error);
  }
}

}  // namespace
