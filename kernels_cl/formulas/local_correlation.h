// The correlation of two images within windows, and its derivative.
//
// With r = A / sqrt(B C), A the covariance within a window of n voxels and B and C the variances
// plus their floors, the derivative of the sum of all r with respect to the warped volume W at a
// voxel is F sum(a) - W sum(b) + sum(c), over the windows about it, with a = 1 / (n sqrt(B C)),
// b = r / (n C) and c = mean(W) b - mean(F) a. With `any_sign`, the measure of a window is r^2 / 2,
// whose derivative is r times that of r.
#ifndef WARPALIGN_FORMULAS_LOCAL_CORRELATION_H
#define WARPALIGN_FORMULAS_LOCAL_CORRELATION_H

#include "formulas/language.h"

// Windows reach this far from their centre along each axis.
#define WA_WINDOW_REACH 2

// The number of voxels of an axis in the window about k.
WA_INLINE int wa_window_extent(int k, int voxels) {
  const int before = k < WA_WINDOW_REACH ? k : WA_WINDOW_REACH;
  const int after = voxels - 1 - k < WA_WINDOW_REACH ? voxels - 1 - k : WA_WINDOW_REACH;
  return before + after + 1;
}

// The sum of the values of a window along an axis; c is that of its centre.
WA_INLINE WA_REAL wa_sum_of_five(WA_REAL a, WA_REAL b, WA_REAL c, WA_REAL d, WA_REAL e) {
  return ((a + b) + (d + e)) + c;
}

// 1 / sqrt(variance + floor), of a window with these means of the values and of their squares.
WA_INLINE WA_REAL wa_window_precision(WA_REAL mean, WA_REAL square, float lowest) {
  return WA_RSQRT(WA_FMAX(WA_FMA(-mean, mean, square), WA_NUMBER(0)) + WA_NUMBER(lowest));
}

typedef struct {
  WA_REAL mean, precision;  // of the reference's window
  WA_REAL counts;           // 1, or 0 for a window that does not count
} WaReferenceWindow;

// Computes a, b and c, and returns r (or its square). `per`: 1 / n. `sums`: of W, W^2 and F W.
WA_INLINE WA_REAL wa_window_factors(const WaReferenceWindow* reference, const WA_REAL* sums,
                                    WA_REAL per, float lowest, int any_sign, WA_REAL* factors) {
  const WA_REAL mean = per * sums[0];
  const WA_REAL precision = wa_window_precision(mean, per * sums[1], lowest);
  const WA_REAL both = reference->counts * reference->precision * precision;
  const WA_REAL r = WA_FMA(-reference->mean, mean, per * sums[2]) * both;
  const WA_REAL weight = any_sign ? r : WA_NUMBER(1);
  factors[0] = weight * (per * both);
  factors[1] = weight * (per * r * precision * precision);
  factors[2] = WA_FMA(mean, factors[1], -reference->mean * factors[0]);
  return weight * r;
}

#endif
