// The 3 x 3 Sobel operator (registration paper, section 4), from differences and sums that
// neighbouring outputs share.
#ifndef WARPALIGN_FORMULAS_SOBEL_H
#define WARPALIGN_FORMULAS_SOBEL_H

#include "formulas/language.h"

// The weighted sum of three pixels down a column (or along a row), with taps 1 2 1.
WA_INLINE float wa_sobel_smooth(float before, float at, float after) {
  return WA_FMA(2.0f, at, before + after);
}

// The gradient magnitude from the smoothed values (1 2 1 downwards) of the left and right columns,
// and the differences (below minus above) of the three columns.
WA_INLINE float wa_sobel_magnitude(float smooth_left, float smooth_right, float difference_left,
                                   float difference_at, float difference_right) {
  const float gx = smooth_right - smooth_left;
  const float gy = wa_sobel_smooth(difference_left, difference_at, difference_right);
  return WA_SQRT(WA_FMA(gx, gx, gy * gy));
}

#endif
