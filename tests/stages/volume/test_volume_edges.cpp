// The strength of edges in volumes against the oracle, on every device.
#include "reference/volume/volume_edges.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/volume_edges.hpp>
#include <warpalign/error.hpp>

#include <cmath>

namespace {

using reference::Volume;
using warpalign::Device;
using warpalign::EdgeCurve;
using warpalign::PixelType;
using warpalign::Point3;
using warpalign::Shape;
using warpalign::VolumeEdgesPlan;

Volume computed(const Device& device, const Volume& volume, const Point3& spacing,
                const EdgeCurve& curve) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, volume);
  auto edges = device.make_image(PixelType::f32, input.shape());
  test::poison(stream, edges);
  VolumeEdgesPlan(device, {input.shape(), spacing}).execute(stream, input, curve, edges);
  return test::volume_from_device(stream, edges);
}

/// Voxel (x, y, z) is a x + b y + c z.
Volume ramp(const Shape& shape, const Point3& rise) {
  Volume volume(shape.width, shape.height, shape.depth);
  reference::for_each_voxel(volume.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    volume.at(x, y, z) = rise.x * static_cast<double>(x) + rise.y * static_cast<double>(y) +
                         rise.z * static_cast<double>(z);
  });
  return volume;
}

void compare(const Device& device, const Shape& shape, const Point3& spacing) {
  CAPTURE(to_string(shape));
  CAPTURE(spacing.z);
  const Volume volume = test::random_volume(shape, -1, 1, 41);
  const std::array<double, 3> distances{spacing.x, spacing.y, spacing.z};
  const Volume lengths = reference::gradient_lengths(volume, distances);
  // The inputs are exact, so every rounding error is relative: of a difference, two factors, three
  // squares and the square root (3 ulp in OpenCL).
  CHECK(test::max_difference(computed(device, volume, spacing, {}), lengths) <=
        7e-7 * test::largest(lengths));
  // Values are at most 1, with one more product and division.
  const Volume strengths = reference::edge_strengths(volume, distances, static_cast<double>(0.3F));
  CHECK(test::max_difference(computed(device, volume, spacing, EdgeCurve::up_to_one(0.3F)),
                             strengths) <= 1e-6);
}

}  // namespace

TEST_CASE("volume_edges: agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    compare(device, {37, 10, 9}, {1, 1, 1});
    compare(device, {8, 9, 33}, {0.5, 1.25, 4});
    // Along these axes every voxel is at a face.
    compare(device, {1, 2, 3}, {1, 2, 3});
    compare(device, {2, 70, 1}, {3, 1, 2});
    compare(device, {1, 1, 1}, {1, 1, 1});
  });
}

TEST_CASE("volume_edges: a ramp is as steep at the faces as inside") {
  test::on_every_device([](const Device& device) {
    const Point3 rise{3, 4, 12};
    // In units of the spacing the slopes are 3, 2 and 6.
    const Volume found = computed(device, ramp({9, 8, 7}, rise), {1, 2, 2}, {});
    // As above.
    for (const double length : found.values) CHECK(length == doctest::Approx(7).epsilon(7e-7));
  });
}

TEST_CASE("volume_edges: reversed contrast gives the same result, and no edge gives 0") {
  test::on_every_device([](const Device& device) {
    const EdgeCurve curve = EdgeCurve::up_to_one(0.1F);
    const Volume volume = test::random_volume({16, 12, 10}, -1, 1, 42);
    Volume negative = volume;
    for (double& value : negative.values) value = -value;
    const Volume found = computed(device, volume, {1, 1, 2}, curve);
    CHECK(test::max_difference(found, computed(device, negative, {1, 1, 2}, curve)) == 0);
    const Volume flat(9, 9, 9);
    CHECK(test::largest(computed(device, flat, {1, 1, 1}, curve)) == 0);
  });
}

TEST_CASE("volume_edges: NaN next to NaN voxels, and nowhere else") {
  test::on_every_device([](const Device& device) {
    const Volume volume = test::with_marks(test::random_volume({20, 13, 9}, -1, 1, 43), 0.02, 44);
    const EdgeCurve curve = EdgeCurve::up_to_one(0.3F);
    const Volume expected = reference::edge_strengths(volume, {1, 1, 1}, static_cast<double>(0.3F));
    CHECK(test::max_marked_difference(computed(device, volume, {1, 1, 1}, curve), expected) <=
          1e-6);
  });
}

TEST_CASE("volume_edges: invalid arguments are refused") {
  test::on_every_device([](const Device& device) {
    using warpalign::Error;
    CHECK_THROWS_AS(VolumeEdgesPlan(device, {{0, 8, 8}}), Error);
    CHECK_THROWS_AS(VolumeEdgesPlan(device, {{8, 8, 8}, {1, 0, 1}}), Error);
    CHECK_THROWS_AS(VolumeEdgesPlan(device, {{8, 8, 8}, {1, 1, 1e7}}), Error);
    CHECK_THROWS_AS(VolumeEdgesPlan(device, {{8, 8, 8}, {NAN, 1, 1}}), Error);
    const VolumeEdgesPlan plan(device, {{8, 8, 8}});
    auto stream = device.make_stream();
    const auto volume = device.make_image(PixelType::f32, {8, 8, 8});
    const auto small = device.make_image(PixelType::f32, {8, 8, 7});
    auto edges = device.make_image(PixelType::f32, {8, 8, 8});
    CHECK_THROWS_AS(plan.execute(stream, small, {}, edges), Error);
    CHECK_THROWS_AS(plan.execute(stream, edges, {}, edges), Error);
    CHECK_THROWS_AS(plan.execute(stream, volume, {-1, 1}, edges), Error);
    CHECK_THROWS_AS(plan.execute(stream, volume, {1, 0}, edges), Error);
    CHECK_THROWS_AS(plan.execute(stream, volume, {1, NAN}, edges), Error);
  });
}
