// The 3 x 3 Sobel operator (registration paper, section 4), from differences and sums that
// neighbouring pixels share.
#ifndef WARPALIGN_FORMULAS_SOBEL_H
#define WARPALIGN_FORMULAS_SOBEL_H

#include "formulas/language.h"

// Weighted sum down (or along) three pixels, taps 1 2 1.
WA_INLINE float wa_sobel_smooth(float before, float at, float after) {
  return WA_FMA(2.0f, at, before + after);
}

// The magnitude from the column sums (smooth, 1 2 1 downwards) of the columns left and right,
// and the row differences (below minus above) of the three columns.
WA_INLINE float wa_sobel_magnitude(float smooth_left, float smooth_right, float difference_left,
                                   float difference_at, float difference_right) {
  const float gx = smooth_right - smooth_left;
  const float gy = wa_sobel_smooth(difference_left, difference_at, difference_right);
  return WA_SQRT(WA_FMA(gx, gx, gy * gy));
}

#endif
