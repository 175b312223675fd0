// The sums for a step on the affine transform between volumes against the oracle, on every device.
#include "reference/volume/affine_volume_sums.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/affine_volume_sums.hpp>
#include <warpalign/error.hpp>

#include <cmath>
#include <vector>

namespace {

using warpalign::AffineVolumeState;
using warpalign::AffineVolumeSums;
using warpalign::AffineVolumeSumsPlan;
using warpalign::Shape;

// Coordinates of up to 40 are right to 4e-6, and the spline's slope is at most 2, which gives
// 8e-6. Single-precision sums of some tens of products add less.
constexpr double tolerance = 1e-5;

void compare(const AffineVolumeSums& found, const reference::AffineVolumeSums& expected) {
  CHECK(found.voxels == expected.voxels);
  const double size = tolerance * (expected.squares + expected.voxels);
  for (std::size_t i = 0; i < 144; ++i) {
    CAPTURE(i);
    CHECK(std::abs(found.matrix[i] - expected.matrix[i]) <= size);
  }
  for (std::size_t i = 0; i < 12; ++i) {
    CAPTURE(i);
    CHECK(std::abs(found.vector[i] - expected.vector[i]) <= size);
  }
  for (const auto& [got, want] :
       {std::pair(found.weight, expected.weight), std::pair(found.r, expected.r),
        std::pair(found.m, expected.m), std::pair(found.rr, expected.rr),
        std::pair(found.mm, expected.mm), std::pair(found.rm, expected.rm),
        std::pair(found.absolute, expected.absolute)}) {
    CHECK(std::abs(got - want) <= tolerance * expected.voxels);
  }
}

/// A rotation by 0.4 about an oblique axis through the centres, slightly sheared.
AffineVolumeState oblique(const Shape& moving, float shift) {
  AffineVolumeState state;
  state.rows = {0.93F, -0.27F, 0.25F, 0, 0.29F, 0.95F, -0.1F, 0, -0.22F, 0.17F, 0.96F, 0};
  state.rows[3] = 0.5F * static_cast<float>(moving.width - 1) + shift;
  state.rows[7] = 0.5F * static_cast<float>(moving.height - 1) - 0.75F;
  state.rows[11] = 0.5F * static_cast<float>(moving.depth - 1) + 0.3F;
  return state;
}

reference::AffineVolumeState of(const AffineVolumeState& state) {
  reference::AffineVolumeState wide;
  for (std::size_t i = 0; i < 12; ++i) wide.rows[i] = static_cast<double>(state.rows[i]);
  wide.gain = static_cast<double>(state.gain);
  wide.offset = static_cast<double>(state.offset);
  wide.scale = state.inverse_scale > 0 ? 1 / static_cast<double>(state.inverse_scale) : 0;
  return wide;
}

void compare_states(const warpalign::Device& device, const Shape& reference, const Shape& moving,
                    const std::vector<AffineVolumeState>& states, int margin, double marks = 0) {
  auto r = test::random_volume(reference, 0, 1, 39);
  auto m = test::random_volume(moving, 0, 1, 40);
  if (marks > 0) {
    r = test::with_marks(r, marks, 41);
    m = test::with_marks(m, marks, 42);
  }
  auto stream = device.make_stream();
  const auto reference_image = test::to_device(device, stream, r);
  const auto moving_image = test::to_device(device, stream, m);
  const AffineVolumeSumsPlan plan(
      device, {reference, moving, margin, static_cast<std::int64_t>(states.size()), marks > 0});
  std::vector<AffineVolumeSums> found(states.size());
  plan.execute(stream, reference_image, moving_image, states, found);
  for (std::size_t i = 0; i < states.size(); ++i) {
    CAPTURE(i);
    const auto expected = reference::affine_volume_sums(r, m, of(states[i]), margin);
    REQUIRE(expected.ambiguous == 0);
    compare(found[i], expected);
  }
}

}  // namespace

TEST_CASE("affine_volume_sums: agrees with the oracle at several transforms, weighted or not") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape moving{37, 21, 18};
    AffineVolumeState weighted = oblique(moving, 1.4F);
    weighted.gain = 0.8F;
    weighted.offset = 0.125F;
    weighted.inverse_scale = 2.5F;
    compare_states(device, {33, 20, 19}, moving, {oblique(moving, 0), weighted}, 1);
    compare_states(device, {40, 9, 12}, moving, {weighted}, 2);
  });
}

TEST_CASE("affine_volume_sums: marked volumes, and pairs where all voxels count") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape moving{37, 21, 18};
    AffineVolumeState weighted = oblique(moving, 1.4F);
    weighted.inverse_scale = 2.5F;
    compare_states(device, {33, 20, 19}, moving, {oblique(moving, 0), weighted}, 1, 0.004);
    compare_states(device, {33, 20, 19}, moving, {weighted}, 2, 1);
  });
}

TEST_CASE("affine_volume_sums: nothing without overlap, and inactive states are left alone") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape shape{12, 10, 9};
    const auto volume = test::random_volume(shape, 0, 1, 1);
    auto stream = device.make_stream();
    const auto image = test::to_device(device, stream, volume);
    const AffineVolumeSumsPlan plan(device, {shape, shape, 1, 2});
    std::vector<AffineVolumeState> states{oblique(shape, 1000), oblique(shape, 0)};
    states[1].active = 0;
    std::vector<AffineVolumeSums> sums(2);
    sums[1].voxels = -3;
    plan.execute(stream, image, image, states, sums);
    CHECK(sums[0].voxels == 0);
    CHECK(sums[0].weight == 0);
    CHECK(sums[1].voxels == -3);
  });
}

TEST_CASE("affine_volume_sums: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape shape{8, 8, 8};
    CHECK_THROWS_AS(AffineVolumeSumsPlan(device, {shape, {0, 8, 8}, 1, 1}), warpalign::Error);
    CHECK_THROWS_AS(AffineVolumeSumsPlan(device, {shape, shape, 0, 1}), warpalign::Error);
    CHECK_THROWS_AS(AffineVolumeSumsPlan(device, {shape, shape, 1, 0}), warpalign::Error);
    auto stream = device.make_stream();
    const auto image = test::to_device(device, stream, test::random_volume(shape, 0, 1, 1));
    const AffineVolumeSumsPlan plan(device, {shape, shape, 1, 1});
    std::vector<AffineVolumeState> states(2);
    std::vector<AffineVolumeSums> sums(2);
    CHECK_THROWS_AS(plan.execute(stream, image, image, states, sums), warpalign::Error);
    states.resize(1);
    sums.resize(1);
    states[0].rows[5] = NAN;
    CHECK_THROWS_AS(plan.execute(stream, image, image, states, sums), warpalign::Error);
  });
}
