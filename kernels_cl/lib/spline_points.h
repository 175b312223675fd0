// The points of a transform in nearly twice single precision, and the test whether a spline has a
// value there, for OpenCL kernels only.
//
// Options: DEGREE 0 to 5; DIMENSIONS 1 to 3; EXTENSION; one of POINTS_FREE, POINTS_REJECT,
// POINTS_CLAMP, POINTS_WRAP (backend::InterpolateDetails).
#ifndef WARPALIGN_LIB_SPLINE_POINTS_H
#define WARPALIGN_LIB_SPLINE_POINTS_H

#include "formulas/affine.h"
#include "formulas/boundary.h"
#include "formulas/bspline.h"

#define TAPS (DEGREE + 1)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define WEIGHTS JOIN(wa_bspline_weights_, DEGREE)
#define DERIVATIVES JOIN(wa_bspline_derivatives_, DEGREE)

// Splits a point's coordinate on an axis of n samples, mapped by the boundary rule, into integer
// and fraction; returns false if the value is cval.
WA_INLINE bool split_point(float high, float low, int n, int* whole, float* fraction) {
#if defined(POINTS_REJECT)
  // Tests the sign first, because the fraction of a coordinate just below 0 rounds to 1.
  if (wa_is_far(high) || high + low < 0.0f) return false;
  *fraction = wa_split(high, low, whole);
  return *whole >= 0 && (*whole < n - 1 || (*whole == n - 1 && *fraction == 0.0f));
#elif defined(POINTS_WRAP)
  *fraction = wa_split_wrapped(high, low, n, whole);
  return true;
#else
  *fraction = wa_split_extended(EXTENSION, high, low, n, whole);
  return true;
#endif
}

// Applies one row of a transform to a pixel; `rest` is the part of the row that float cannot hold.
WA_INLINE void transformed(float4 row, float4 rest, float x, float y, float z, float* high,
                           float* low) {
  *high = row.w;
  *low = rest.w;
  wa_add_product(row.x, rest.x, x, high, low);
  if (DIMENSIONS >= 2) wa_add_product(row.y, rest.y, y, high, low);
  if (DIMENSIONS >= 3) wa_add_product(row.z, rest.z, z, high, low);
}

#endif
