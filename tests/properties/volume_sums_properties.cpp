// The sums for steps on the shift and on the affine transform between volumes against the oracle.
// The stages' own tests derive the tolerances.
#include "properties/trial.hpp"
#include "reference/volume/affine_volume_sums.hpp"
#include "reference/volume/volume_sums.hpp"
#include "support/compare.hpp"
#include "support/rotated_volumes.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/affine_volume_sums.hpp>
#include <warpalign/backend/stages/volume/volume_sums.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

Shape some_shape(Random& random) {
  return random.one_of<Shape>(
      {{3, 3, 3}, {20, 13, 9}, {8, 11, 14}, {40, 6, 7}, {33, 11, 14}, {17, 17, 17}});
}

struct Pair {
  reference::Volume reference, moving;
  bool marked = false;
};

/// The fraction of a volume's voxels that are NaN.
double some_part(Random& random) { return random.one_of<double>({0, 0.003, 0.3}); }

Pair some_pair(Random& random) {
  const Shape reference = some_shape(random);
  const Shape moving = random.chance(0.5) ? reference : some_shape(random);
  Pair pair{test::random_volume(reference, 0, 1, random.seed()),
            test::random_volume(moving, 0, 1, random.seed()), random.chance(0.4)};
  if (!pair.marked) return pair;
  pair.reference = test::with_marks(pair.reference, some_part(random), random.seed());
  pair.moving = test::with_marks(pair.moving, some_part(random), random.seed());
  return pair;
}

/// The largest relative error of the moments; the number of voxels must be exact.
double moments_error(const VolumeMoments& found, const reference::OverlapMoments& expected) {
  if (found.voxels != expected.voxels) return 1e9;
  test::WorstError worst;
  const auto add = [&](double sum, double wanted) {
    worst.add(std::abs(sum - wanted) / (2e-6 * wanted + 1e-30));
  };
  add(found.reference, expected.reference), add(found.moving, expected.moving);
  add(found.reference_square, expected.reference_square);
  add(found.moving_square, expected.moving_square), add(found.product, expected.product);
  return worst.value();
}

void check_moments(Trial& trial) {
  Random& random = trial.random;
  const Pair pair = some_pair(random);
  std::vector<VoxelShift> shifts;
  for (auto left = random.integer(1, 6); left > 0; --left) {
    VoxelShift shift{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      shift[axis] = random.integer(-pair.reference.extents()[axis], pair.moving.extents()[axis]);
    }
    shifts.push_back(shift);
  }
  trial.describe(test::shape_of(pair.reference), " and ", test::shape_of(pair.moving), ", ",
                 shifts.size(), " shifts", pair.marked ? ", marked" : "");
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image r = test::to_device(device, stream, pair.reference);
    const Image m = test::to_device(device, stream, pair.moving);
    const VolumeSumsPlan plan(device, {r.shape(), m.shape(), 1, pair.marked});
    const auto found = plan.moments(stream, r, m, shifts);
    test::WorstError worst;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      worst.add(moments_error(found[i],
                              reference::overlap_moments(pair.reference, pair.moving, shifts[i])));
    }
    return worst.value();
  });
}

double step_error(const VolumeStepSums& found, const reference::StepSums& expected) {
  test::WorstError worst;
  worst.add(moments_error(found, expected));
  const double allowed = 2e-6 * (expected.squares + expected.voxels) + 1e-30;
  const auto add = [&](const auto& sums, const auto& wanted) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      worst.add(std::abs(sums[i] - wanted[i]) / allowed);
    }
  };
  add(found.slopes, expected.slopes), add(found.slope_reference, expected.slope_reference);
  add(found.slope_moving, expected.slope_moving), add(found.slope, expected.slope);
  return worst.value();
}

void check_step(Trial& trial) {
  Random& random = trial.random;
  const Pair pair = some_pair(random);
  const int margin = static_cast<int>(random.integer(1, 3));
  std::array<double, 3> shift{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto n = static_cast<double>(pair.moving.extents()[axis]);
    shift[axis] = random.real(-0.5, 0.5) * n;
    if (random.chance(0.2)) shift[axis] = std::round(shift[axis]);
  }
  trial.describe(test::shape_of(pair.reference), " and ", test::shape_of(pair.moving), ", margin ",
                 margin, ", shift ", shift[0], ", ", shift[1], ", ", shift[2],
                 pair.marked ? ", marked" : "");
  const auto expected = reference::step_sums(pair.reference, pair.moving, shift, margin);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image r = test::to_device(device, stream, pair.reference);
    const Image m = test::to_device(device, stream, pair.moving);
    const VolumeSumsPlan plan(device, {r.shape(), m.shape(), margin, pair.marked});
    return step_error(plan.step(stream, r, m, shift), expected);
  });
}

/// A rotation about the centres with a slight zoom and shear, and a shift.
AffineVolumeState some_state(Random& random, const Shape& moving) {
  const Point3 axis{random.real(-1, 1), random.real(-1, 1), random.real(0.01, 1)};
  const auto rows = test::turn(axis, random.real(-180, 180), {}, random.real(0.8, 1.25));
  AffineVolumeState state;
  for (std::size_t i = 0; i < 12; ++i) {
    state.rows[i] = static_cast<float>(rows[i] + (i % 4 == 3 ? 0 : random.real(-0.1, 0.1)));
  }
  const auto along = [&](std::int64_t n) {
    return static_cast<float>(0.5 * static_cast<double>(n - 1) + random.real(-3, 3));
  };
  state.rows[3] = along(moving.width), state.rows[7] = along(moving.height);
  state.rows[11] = along(moving.depth);
  state.gain = static_cast<float>(random.real(0.5, 1.5));
  state.offset = static_cast<float>(random.real(-0.3, 0.3));
  state.inverse_scale = random.chance(0.4) ? 0 : static_cast<float>(random.real(0.5, 4));
  return state;
}

reference::AffineVolumeState in_double(const AffineVolumeState& state) {
  reference::AffineVolumeState wide;
  std::copy(state.rows.begin(), state.rows.end(), wide.rows.begin());
  wide.gain = static_cast<double>(state.gain);
  wide.offset = static_cast<double>(state.offset);
  wide.scale = state.inverse_scale > 0 ? 1 / static_cast<double>(state.inverse_scale) : 0;
  return wide;
}

double affine_error(const AffineVolumeSums& found, const reference::AffineVolumeSums& expected) {
  // Rounding decides whether a voxel at the end of the spline's domain counts.
  if (expected.ambiguous > 0) return 0;
  if (found.voxels != expected.voxels) return 1e9;
  test::WorstError worst;
  const auto add = [&](double sum, double wanted, double size) {
    worst.add(std::abs(sum - wanted) / (1e-5 * size + 1e-30));
  };
  const double size = expected.squares + expected.voxels;
  for (std::size_t i = 0; i < 144; ++i) add(found.matrix[i], expected.matrix[i], size);
  for (std::size_t i = 0; i < 12; ++i) add(found.vector[i], expected.vector[i], size);
  for (const auto& [sum, wanted] :
       {std::pair(found.weight, expected.weight), std::pair(found.r, expected.r),
        std::pair(found.m, expected.m), std::pair(found.rr, expected.rr),
        std::pair(found.mm, expected.mm), std::pair(found.rm, expected.rm),
        std::pair(found.absolute, expected.absolute)}) {
    add(sum, wanted, expected.voxels);
  }
  return worst.value();
}

/// Checks several states, some of which are inactive.
void check_affine_sums(Trial& trial) {
  Random& random = trial.random;
  const Pair pair = some_pair(random);
  AffineVolumeSumsSpec spec{test::shape_of(pair.reference), test::shape_of(pair.moving),
                            static_cast<int>(random.integer(1, 3)), random.integer(1, 4),
                            pair.marked};
  std::vector<AffineVolumeState> states;
  std::vector<reference::AffineVolumeSums> expected;
  for (auto left = random.integer(1, spec.max_states); left > 0; --left) {
    states.push_back(some_state(random, spec.moving));
    states.back().active = random.chance(0.8) ? 1 : 0;
    expected.push_back(reference::affine_volume_sums(pair.reference, pair.moving,
                                                     in_double(states.back()), spec.margin));
  }
  trial.describe(spec.reference, " and ", spec.moving, ", margin ", spec.margin, ", ",
                 states.size(), " states", pair.marked ? ", marked" : "");
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image r = test::to_device(device, stream, pair.reference);
    const Image m = test::to_device(device, stream, pair.moving);
    std::vector<AffineVolumeSums> found(states.size());
    for (AffineVolumeSums& sums : found) sums.voxels = -3;
    AffineVolumeSumsPlan(device, spec).execute(stream, r, m, states, found);
    test::WorstError worst;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const bool is_inactive = states[i].active == 0;
      if (is_inactive && found[i].voxels != -3) worst.add(1e9);
      if (!is_inactive) worst.add(affine_error(found[i], expected[i]));
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> volume_sums_properties() {
  return {{"volume_sums", "moments as the oracle has them", &check_moments},
          {"volume_sums", "a step's sums as the oracle has them", &check_step},
          {"affine_volume_sums", "as the oracle has it", &check_affine_sums}};
}

}  // namespace properties
