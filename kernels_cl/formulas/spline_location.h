// Where on an axis a spline is evaluated: the location of a coordinate in a boundary mode, for
// kernels whose mode is an argument.
#ifndef WARPALIGN_FORMULAS_SPLINE_LOCATION_H
#define WARPALIGN_FORMULAS_SPLINE_LOCATION_H

#include "formulas/affine.h"
#include "formulas/boundary.h"
#include "formulas/language.h"
#include "formulas/point_rules.h"

// Whether a point has a value on an axis of n samples, if the edges reject points outside.
WA_INLINE bool wa_lies_on(int whole, float fraction, int n) {
  return whole >= 0 && (whole < n - 1 || (whole == n - 1 && fraction == 0.0f));
}

// Splits the coordinate high + low on an axis of n samples into the sample below it and a fraction,
// in the boundary mode. Returns whether the point has a value.
WA_INLINE bool wa_locate(int points_rule, int extension, float high, float low, int n, int* whole,
                         float* fraction) {
  if (high - high != 0.0f || low - low != 0.0f) return false;
  if (points_rule == WA_PERIOD_MINUS_ONE) {
    *fraction = wa_split_wrapped(high, low, n, whole);
    return true;
  }
  *fraction = wa_split_extended(extension, high, low, n, whole);
  if (points_rule != WA_REJECT_OUTSIDE) return true;
  return !wa_is_far(high) && wa_lies_on(*whole, *fraction, n);
}

// The same for coordinates of any size, infinity included: beyond 2^29 samples they are moved to
// that distance. The result differs from that of wa_locate() for periodic extensions, far away,
// where coordinates in single precision are multiples of 64; it needs no division of 64 bits.
WA_INLINE bool wa_locate_near(int points_rule, float high, float low, int n, int* whole,
                              float* fraction) {
  const float farthest = 0x1p+29f;
  if (!(high == high)) return false;
  if (points_rule != WA_CLAMP_TO_MARGIN && high - high != 0.0f) return false;
  const bool is_far = !(WA_FABS(high) < farthest) || !(low == low);
  if (is_far) low = 0.0f;
  high = high > farthest ? farthest : high < -farthest ? -farthest : high;
  wa_snap(&high, &low);
  const bool below = high + low < 0.0f;
  *fraction = wa_split(high, low, whole);
  if (points_rule == WA_REJECT_OUTSIDE) return wa_lies_on(*whole, *fraction, n);
  if (points_rule != WA_PERIOD_MINUS_ONE) return true;
  if (n > 1) {
    wa_wrap_split(below, *fraction, n, whole);
  } else {
    *whole = 0;
    *fraction = 0.0f;
  }
  return true;
}

#endif
