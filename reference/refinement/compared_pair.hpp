// A pair of images during refinement: its valid pixels, and their positions in the moving image.
#pragma once

#include "reference/filter/gaussian.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace reference {

/// A reference compared with the spline of a moving image at q = m p, m = (a, b, c, d, e, f), or,
/// under a homography, at m p divided by w p.
struct ComparedPair {
  const Plane& reference;
  const Plane& coefficients;
  std::array<double, 6> m{};
  std::array<double, 3> w{0, 0, 1};
  std::int64_t reference_margin = 0;
  std::int64_t moving_margin = 1;
  const Plane* reference_weight = nullptr;
  const Plane* moving_weight = nullptr;
};

/// The position of a reference pixel in the moving image.
Position position_of(const ComparedPair& pair, std::int64_t x, std::int64_t y);
/// The position of a reference pixel, if it is valid.
std::optional<Position> counted(const ComparedPair& pair, std::int64_t x, std::int64_t y);
/// The cubic spline at a position at least 1 within the image.
double spline_at(const Plane& coefficients, Position at);

}  // namespace reference
