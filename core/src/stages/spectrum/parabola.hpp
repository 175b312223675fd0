// The parabola through three equidistant samples, which locates peaks between samples.
#pragma once

#include <algorithm>

namespace warpalign::detail {

/// The distance of the vertex from the middle sample, -1/2 to 1/2, in samples; 0 if the samples
/// have no maximum.
inline double parabola_vertex(double before, double middle, double after) {
  const double curvature = before - 2 * middle + after;
  if (!(curvature < 0)) return 0;  // flat, or not finite
  return std::clamp((before - after) / (2 * curvature), -0.5, 0.5);
}

}  // namespace warpalign::detail
