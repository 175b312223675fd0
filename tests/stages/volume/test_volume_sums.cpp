// Sums over the overlap of two volumes against the oracle, on every device.
#include "reference/volume/volume_sums.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/volume_sums.hpp>
#include <warpalign/error.hpp>

#include <cmath>

namespace {

using warpalign::Shape;
using warpalign::VolumeMoments;
using warpalign::VolumeSumsPlan;
using warpalign::VoxelShift;

// Products of numbers up to 1; work items add some tens of them, and groups add in double.
constexpr double tolerance = 2e-6;

void compare_moments(const VolumeMoments& found, const reference::OverlapMoments& expected) {
  CHECK(found.voxels == expected.voxels);
  CHECK(found.reference == doctest::Approx(expected.reference).epsilon(tolerance));
  CHECK(found.moving == doctest::Approx(expected.moving).epsilon(tolerance));
  CHECK(found.reference_square == doctest::Approx(expected.reference_square).epsilon(tolerance));
  CHECK(found.moving_square == doctest::Approx(expected.moving_square).epsilon(tolerance));
  CHECK(found.product == doctest::Approx(expected.product).epsilon(tolerance));
}

struct Pair {
  reference::Volume reference, moving;
};

Pair random_pair(const Shape& reference, const Shape& moving) {
  return {test::random_volume(reference, 0, 1, 39), test::random_volume(moving, 0, 1, 40)};
}

/// Some voxels of both volumes are NaN and do not count.
Pair marked_pair(const Shape& reference, const Shape& moving, double part) {
  const Pair pair = random_pair(reference, moving);
  return {test::with_marks(pair.reference, part, 41), test::with_marks(pair.moving, part, 42)};
}

void compare_shifts(const warpalign::Device& device, const Pair& pair,
                    const std::vector<VoxelShift>& shifts, bool marked = false) {
  auto stream = device.make_stream();
  const auto r = test::to_device(device, stream, pair.reference);
  const auto m = test::to_device(device, stream, pair.moving);
  const VolumeSumsPlan plan(device, {r.shape(), m.shape(), 1, marked});
  const auto found = plan.moments(stream, r, m, shifts);
  REQUIRE(found.size() == shifts.size());
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    CAPTURE(i);
    compare_moments(found[i], reference::overlap_moments(pair.reference, pair.moving, shifts[i]));
  }
}

void compare_step(const warpalign::Device& device, const Pair& pair,
                  const std::array<double, 3>& shift, int margin, bool marked = false) {
  CAPTURE(shift[0]);
  CAPTURE(shift[1]);
  CAPTURE(shift[2]);
  auto stream = device.make_stream();
  const auto r = test::to_device(device, stream, pair.reference);
  const auto m = test::to_device(device, stream, pair.moving);
  const auto found =
      VolumeSumsPlan(device, {r.shape(), m.shape(), margin, marked}).step(stream, r, m, shift);
  const auto expected = reference::step_sums(pair.reference, pair.moving, shift, margin);
  compare_moments(found, expected);
  // Sums of either sign: the rounding error is proportional to the sums of squares. A spline's
  // value and slopes are right to a few 1e-7 of the coefficients.
  const double size = tolerance * (expected.squares + expected.voxels);
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(std::abs(found.slopes[i] - expected.slopes[i]) <= size);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(found.slope_reference[i] - expected.slope_reference[i]) <= size);
    CHECK(std::abs(found.slope_moving[i] - expected.slope_moving[i]) <= size);
    CHECK(std::abs(found.slope[i] - expected.slope[i]) <= size);
  }
}

}  // namespace

TEST_CASE("volume_sums: moments at many shifts, unequal volumes") {
  test::on_every_device([](const warpalign::Device& device) {
    compare_shifts(device, random_pair({20, 13, 9}, {20, 13, 9}),
                   {{0, 0, 0}, {7, -5, 3}, {-19, 12, -8}, {20, 0, 0}, {0, 0, -9}, {-3, 0, 8}});
    compare_shifts(device, random_pair({70, 6, 5}, {33, 11, 14}),
                   {{0, 0, 0}, {-40, 4, 9}, {32, 10, 13}, {-69, -5, -4}, {33, 0, 0}});
    compare_shifts(device, random_pair({5, 5, 5}, {5, 5, 5}), {});
  });
}

TEST_CASE("volume_sums: a step at any fraction, unequal volumes, margins") {
  test::on_every_device([](const warpalign::Device& device) {
    const Pair equal = random_pair({20, 13, 11}, {20, 13, 11});
    compare_step(device, equal, {0, 0, 0}, 1);
    compare_step(device, equal, {2.3, -4.75, 1.999}, 1);
    compare_step(device, equal, {2.3, -4.75, 1.5}, 3);
    const Pair unequal = random_pair({70, 8, 7}, {33, 11, 14});
    compare_step(device, unequal, {-20.5, 1.25, 3.125}, 2);
    compare_step(device, random_pair({3, 3, 3}, {4, 4, 4}), {0.5, 0.5, 0.5}, 1);
  });
}

TEST_CASE("volume_sums: marked volumes, and pairs where all voxels count") {
  test::on_every_device([](const warpalign::Device& device) {
    const Pair dense = marked_pair({20, 13, 9}, {18, 13, 14}, 0.3);
    const std::vector<VoxelShift> shifts{{0, 0, 0}, {7, -5, 3}, {-17, 12, -8}, {20, 0, 0}};
    compare_shifts(device, dense, shifts, true);
    // A step reads 64 voxels of one volume and 7 of the other.
    const Pair sparse = marked_pair({20, 13, 11}, {21, 15, 12}, 0.004);
    compare_step(device, sparse, {0, 0, 0}, 1, true);
    compare_step(device, sparse, {2.3, -4.75, 1.999}, 2, true);
    // If all voxels count, marks change nothing but the order of sums.
    const Pair whole = random_pair({20, 13, 11}, {20, 13, 11});
    compare_shifts(device, whole, shifts, true);
    compare_step(device, whole, {2.3, -4.75, 1.5}, 1, true);
    compare_step(device, marked_pair({8, 8, 8}, {8, 8, 8}, 1), {0.5, 0, 0}, 1, true);
  });
}

TEST_CASE("volume_sums: nothing without overlap") {
  test::on_every_device([](const warpalign::Device& device) {
    const Pair pair = random_pair({8, 8, 8}, {8, 8, 8});
    auto stream = device.make_stream();
    const auto r = test::to_device(device, stream, pair.reference);
    const auto m = test::to_device(device, stream, pair.moving);
    const VolumeSumsPlan plan(device, {r.shape(), m.shape(), 1});
    CHECK(plan.step(stream, r, m, {8, 0, 0}).voxels == 0);
    CHECK(plan.step(stream, r, m, {-1e6, 0, 0}).slopes[0] == 0);
    CHECK_THROWS_AS((void)plan.step(stream, r, m, {NAN, 0, 0}), warpalign::Error);
    const std::vector<VoxelShift> many(VolumeSumsPlan::max_shifts + 1);
    CHECK_THROWS_AS((void)plan.moments(stream, r, m, many), warpalign::Error);
    CHECK_THROWS_AS(VolumeSumsPlan(device, {r.shape(), m.shape(), 0}), warpalign::Error);
  });
}
