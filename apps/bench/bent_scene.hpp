// A pair that differs by a known smooth deformation: the same sum of waves, once bent.
#pragma once

#include "bench/pixels.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace warpalign::program::bench {

/// The displacement of every point, in pixels: along each axis a sine of the next axis, so that
/// waves stay products of a function of each coordinate.
struct BentField {
  std::int64_t side = 0;
  int axes = 2;

  /// What the coordinate `at` along `axis` adds to the displacement, and along which axis.
  [[nodiscard]] double bend(int axis, double at) const {
    const double period = axes == 2 ? 128 : 64;  // pixels
    const double amplitude = axes == 2 ? 3 : 2;
    return amplitude * std::sin(2 * std::numbers::pi * (at / period + 0.3 * axis));
  }
  [[nodiscard]] int bent_axis(int axis) const { return (axis + axes - 1) % axes; }
  /// The point of the moving image that shows what the reference shows at `p`.
  [[nodiscard]] std::array<double, 3> operator()(const std::array<double, 3>& p) const {
    std::array<double, 3> q = p;
    for (int axis = 0; axis < axes; ++axis) {
      q[static_cast<std::size_t>(bent_axis(axis))] += bend(axis, p[static_cast<std::size_t>(axis)]);
    }
    return q;
  }
};

struct BentPair {
  Pixels reference;  ///< 16 bit
  Pixels moving;
  BentField field;
};

/// A square image (axes 2) or a cube (axes 3) of `side` pixels. The most recent pair is cached.
[[nodiscard]] const BentPair& bent_pair(std::int64_t side, int axes);

}  // namespace warpalign::program::bench
