// Rows of an affine transform in nearly twice single precision.
//
// In plain float, coordinates of around 16384 pixels are off by 1e-3 of a pixel. Here each
// coefficient is a pair of floats, and products and sums keep their rounding errors (the error-free
// transformations of Dekker and Knuth), so that a coordinate is accurate to about 1e-6 of a pixel
// wherever it lies.
#ifndef WARPALIGN_FORMULAS_AFFINE_H
#define WARPALIGN_FORMULAS_AFFINE_H

#include "formulas/language.h"

// Adds a and b exactly: returns the rounded sum and puts its rounding error in *error.
WA_INLINE float wa_two_sum(float a, float b, float* error) {
  const float sum = a + b;
  const float b_part = sum - a;
  *error = (a - (sum - b_part)) + (b - b_part);
  return sum;
}

// Returns a dx + b dy + c as the sum of two floats, the smaller of them in *low. The products are
// written as fma(a, dx, 0) so that no compiler contracts them into the sums.
WA_INLINE float wa_affine(float a, float a_low, float dx, float b, float b_low, float dy, float c,
                          float c_low, float* low) {
  float error_1, error_2;
  const float ax = WA_FMA(a, dx, 0.0f);
  const float by = WA_FMA(b, dy, 0.0f);
  const float linear = wa_two_sum(ax, by, &error_1);
  const float sum = wa_two_sum(linear, c, &error_2);
  const float product_errors = WA_FMA(a, dx, -ax) + WA_FMA(b, dy, -by);
  const float rests = WA_FMA(a_low, dx, WA_FMA(b_low, dy, c_low));
  *low = (error_1 + error_2) + (product_errors + rests);
  return sum;
}

// Adds a d to the sum of two floats *high + *low. Evaluates a transform's row of any length, term
// by term.
WA_INLINE void wa_add_product(float a, float a_low, float d, float* high, float* low) {
  float error;
  const float product = WA_FMA(a, d, 0.0f);
  const float product_error = WA_FMA(a, d, -product);
  *high = wa_two_sum(*high, product, &error);
  *low += WA_FMA(a_low, d, error + product_error);
}

// Returns (high + low) / (divisor + divisor_low) as the sum of two floats, the smaller of them in
// *rest.
WA_INLINE float wa_divide(float high, float low, float divisor, float divisor_low, float* rest) {
  float sum_low, by_low;
  const float sum = wa_two_sum(high, low, &sum_low);
  const float by = wa_two_sum(divisor, divisor_low, &by_low);
  const float quotient = sum / by;
  const float remainder = WA_FMA(-quotient, by, sum) + WA_FMA(-quotient, by_low, sum_low);
  *rest = remainder / by;
  return quotient;
}

// Snaps *high + *low to the nearest integer if it is less than 2^-25 away, so that the rounding of
// a transform's coefficients to double does not decide whether a point lies within an image.
WA_INLINE void wa_snap(float* high, float* low) {
  const float below = WA_FLOOR(*high);
  const float part = *high - below;
  const float nearest = WA_FLOOR((part + *low) + 0.5f);
  if (WA_FABS((part - nearest) + *low) < 0x1p-25f) *high = wa_two_sum(below, nearest, low);
}

// Splits high + low into the integer below, stored in *whole, and the fraction above it, in [0, 1],
// which it returns.
WA_INLINE float wa_split(float high, float low, int* whole) {
  const float below = WA_FLOOR(high);
  const float rest = (high - below) + low;
  const float carry = WA_FLOOR(rest);
  *whole = (int)below + (int)carry;
  return rest - carry;
}

#endif
