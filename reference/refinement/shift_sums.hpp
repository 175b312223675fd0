// The oracle of the sums of a Gauss-Newton step for the shift of a window.
#pragma once

#include "reference/plane.hpp"

#include <array>

namespace reference {

/// A window of a frame, compared with the reference at an offset.
struct ShiftedWindow {
  std::int64_t left = 0, top = 0;           ///< of the window in the frame
  double reference_x = 0, reference_y = 0;  ///< the reference's point at the window's pixel (0, 0)
  std::int64_t first_column = 0, end_column = 0, first_row = 0, end_row = 0;
  double frame_mean = 0, reference_mean = 0;
  double gain = 0, offset = 0;
  double scale = 0;  ///< of Tukey's weights; 0: equal weights
};

/// Sums over the valid pixels, each weighted by Tukey's biweight of its residual except for the
/// last two: 1, r, m, rr, mm, rm, rx, ry, rx r, ry r, mx, my, mx r, my r, mx m, my m, mx rx, mx ry,
/// my rx, my ry, mx mx, mx my, my my, then the number of pixels and the sum of |residual|. r is the
/// cubic B-spline whose coefficients are the reference's samples, m the same spline of the frame at
/// the frame's own samples; rx, ry, mx and my are their derivatives.
std::array<double, 25> shift_sums(const Plane& frame, const Plane& reference,
                                  const ShiftedWindow& window);

}  // namespace reference
