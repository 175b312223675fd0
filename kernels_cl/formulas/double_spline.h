// Coordinates and weights of splines in double precision. Only for devices with the type double.
//
// SciPy rounds coordinates after each product and sum, and the last bit may decide which sample is
// nearest. WA_TIMES and WA_PLUS round in the same way: no compiler may contract them.
#ifndef WARPALIGN_FORMULAS_DOUBLE_SPLINE_H
#define WARPALIGN_FORMULAS_DOUBLE_SPLINE_H

#include "formulas/boundary.h"
#include "formulas/language.h"

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define WA_TIMES(a, b) ((a) * (b))
#define WA_PLUS(a, b) ((a) + (b))
#else
#define WA_TIMES(a, b) __dmul_rn(a, b)
#define WA_PLUS(a, b) __dadd_rn(a, b)
#endif

// The numbers of warpalign::Boundary.
#define WA_BY_MIRROR 0
#define WA_BY_REFLECT 1
#define WA_BY_NEAREST 2
#define WA_BY_CONSTANT 3
#define WA_BY_GRID_CONSTANT 4
#define WA_BY_WRAP 5
#define WA_BY_GRID_WRAP 6

#define WA_OUTSIDE (-1.0)
// The largest number of samples along an axis.
#define WA_MAX_LENGTH 1073741824

// x - period * (whole periods in x), rounded towards zero. Each operation rounds as in SciPy.
WA_INLINE double wa_without_periods(double x, double period) {
  return WA_PLUS(x, -WA_TIMES(period, trunc(x / period)));
}

// Maps a coordinate below 0 on an axis of n samples to [0, n - 1], or to at most half a sample
// outside of it.
WA_INLINE double wa_located_below(int boundary, double x, double n) {
  switch (boundary) {
    case WA_BY_MIRROR: {
      if (n <= 1.0) return 0.0;
      const double period = 2.0 * n - 2.0;
      const double at = wa_without_periods(x, period);
      return at <= 1.0 - n ? WA_PLUS(at, period) : -at;
    }
    case WA_BY_REFLECT: {
      if (n <= 1.0) return 0.0;
      const double period = 2.0 * n;
      const double at = x < -period ? wa_without_periods(x, period) : x;
      if (at < -n) return WA_PLUS(at, period);
      // Just below 0, -at - 1 would round to -1, which is WA_OUTSIDE.
      return WA_PLUS(at > -1e-15 ? 1e-15 : -at, -1.0);
    }
    case WA_BY_WRAP:
      if (n <= 1.0) return 0.0;
      return WA_PLUS(x, WA_TIMES(n - 1.0, trunc(-x / (n - 1.0)) + 1.0));
    case WA_BY_GRID_WRAP:
      if (n <= 1.0) return 0.0;
      return WA_PLUS(x, WA_TIMES(n, trunc(WA_PLUS(-1.0, -x) / n) + 1.0));
    default:
      return WA_OUTSIDE;
  }
}

// The same for a coordinate above n - 1.
WA_INLINE double wa_located_above(int boundary, double x, double n) {
  if (boundary == WA_BY_CONSTANT) return WA_OUTSIDE;
  if (n <= 1.0) return 0.0;
  switch (boundary) {
    case WA_BY_MIRROR: {
      const double at = wa_without_periods(x, 2.0 * n - 2.0);
      return at >= n ? WA_PLUS(2.0 * n - 2.0, -at) : at;
    }
    case WA_BY_REFLECT: {
      const double at = wa_without_periods(x, 2.0 * n);
      return at >= n ? WA_PLUS(WA_PLUS(2.0 * n, -at), -1.0) : at;
    }
    case WA_BY_WRAP:
      return wa_without_periods(x, n - 1.0);
    default:
      return wa_without_periods(x, n);
  }
}

// Maps a coordinate to an axis of n samples. The result is at most WA_OUTSIDE, or NaN, if the point
// has the value beyond the edges. The modes nearest and grid_constant keep every coordinate.
WA_INLINE double wa_located(int boundary, double x, int n) {
  if (boundary == WA_BY_NEAREST || boundary == WA_BY_GRID_CONSTANT) return x;
  if (x < 0.0) return isinf(x) ? WA_OUTSIDE : wa_located_below(boundary, x, (double)n);
  if (x > (double)(n - 1)) return isinf(x) ? WA_OUTSIDE : wa_located_above(boundary, x, (double)n);
  return x;
}

WA_INLINE bool wa_is_located(int boundary, double x) {
  return x > WA_OUTSIDE || boundary == WA_BY_NEAREST || boundary == WA_BY_GRID_CONSTANT;
}

// floor(x) as an int, clamped to +-WA_MAX_LENGTH; the smallest value for NaN. Only coordinates of
// the modes nearest and grid_constant are that large, and all samples so far outside are equal.
WA_INLINE int wa_whole(double x) {
  if (!(x > -(double)WA_MAX_LENGTH)) return -WA_MAX_LENGTH;
  return x < (double)WA_MAX_LENGTH ? (int)floor(x) : WA_MAX_LENGTH;
}

// z to the power n, n >= 0. (The names of this function differ between OpenCL and CUDA.)
WA_INLINE double wa_power(double z, int n) {
  double power = 1.0;
  for (int k = 0; k < n; ++k) power *= z;
  return power;
}

// The degree + 1 weights of a B-spline with knots at integers, by the recursion of Cox and de Boor.
// `t` in [0, 1) is the distance of the point from the knot below it. All terms are positive.
WA_INLINE void wa_double_weights(int degree, double t, double* w) {
  const double inverse[6] = {0.0, 1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0};
  w[0] = 1.0;
  WA_UNROLL
  for (int k = 1; k <= degree; ++k) {
    double saved = 0.0;
    WA_UNROLL
    for (int r = 0; r < k; ++r) {
      const double part = w[r] * inverse[k];  // divisions take long on GPUs
      w[r] = saved + ((double)(r + 1) - t) * part;
      saved = (t + (double)(k - 1 - r)) * part;
    }
    w[k] = saved;
  }
}

#endif
