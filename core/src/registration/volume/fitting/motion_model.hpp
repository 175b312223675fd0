// The parameters of the transforms that a motion allows: their derivatives, and finite steps along
// them.
#pragma once

#include "registration/numerics/small_solver.hpp"
#include "registration/volume/geometry/spatial_transform.hpp"

#include <warpalign/registrar.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace warpalign::detail {

/// The derivative of a rotation about an axis by its angle.
[[nodiscard]] inline SpatialTransform rotation_generator(std::size_t axis) {
  SpatialTransform g{{}, {}};
  const std::size_t i = (axis + 1) % 3, j = (axis + 2) % 3;
  g.linear[3 * i + j] = -1;
  g.linear[3 * j + i] = 1;
  return g;
}

/// The infinitesimal generators of the transforms of a motion (a basis of their Lie algebra).
struct MotionGenerators {
  std::array<SpatialTransform, max_unknowns> each{};
  std::size_t count = 0;

  void add(const SpatialTransform& generator) { each[count++] = generator; }
};

/// `motion`: translation, rigid, similarity or affine.
[[nodiscard]] inline MotionGenerators generators_of(Motion motion) {
  MotionGenerators generators;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    SpatialTransform g{{}, {}};
    g.shift[axis] = 1;
    generators.add(g);
  }
  if (motion == Motion::affine) {
    for (std::size_t i = 0; i < 9; ++i) {
      SpatialTransform g{{}, {}};
      g.linear[i] = 1;
      generators.add(g);
    }
    return generators;
  }
  if (motion == Motion::translation) return generators;
  for (std::size_t axis = 0; axis < 3; ++axis) generators.add(rotation_generator(axis));
  if (motion == Motion::similarity) generators.add({identity3(), {}});
  return generators;
}

/// The finite transform for `steps` along the generators of generators_of(motion).
[[nodiscard]] inline SpatialTransform increment(Motion motion, std::span<const double> steps) {
  SpatialTransform change;
  change.shift = {steps[0], steps[1], steps[2]};
  if (motion == Motion::affine) {
    for (std::size_t i = 0; i < 9; ++i) change.linear[i] += steps[3 + i];
  } else if (motion != Motion::translation) {
    change.linear = rotation_by({steps[3], steps[4], steps[5]});
  }
  if (motion == Motion::similarity) {
    for (double& entry : change.linear) entry *= std::exp(steps[6]);
  }
  return change;
}

}  // namespace warpalign::detail
