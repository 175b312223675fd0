// The cubic spline in double precision, to measure devices against.
#pragma once

#include <warpalign/pixel.hpp>

#include <span>

namespace warpalign::program {

/// sum over k of c(k) beta_3(p - k) in the plane, straight from the definition, with coefficients
/// mirrored about the edge samples' centres. (x, y) within [-1, width] x [-1, height].
[[nodiscard]] double cubic_spline_at(std::span<const float> coefficients, const Shape& shape,
                                     double x, double y);

}  // namespace warpalign::program
