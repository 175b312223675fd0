// A row of an affine transform in nearly twice single precision.
//
// Plain float coordinates of 16384 pixels are off by 1e-3 of a pixel. Here each coefficient is
// two floats, products and sums keep their rounding errors (Dekker's and Knuth's error-free
// transformations), and a coordinate is good to about 1e-6 of a pixel wherever it lies.
#ifndef WARPALIGN_FORMULAS_AFFINE_H
#define WARPALIGN_FORMULAS_AFFINE_H

#include "formulas/language.h"

// a + b exactly: the sum and, in *error, what it lost.
WA_INLINE float wa_two_sum(float a, float b, float* error) {
  const float sum = a + b;
  const float b_part = sum - a;
  *error = (a - (sum - b_part)) + (b - b_part);
  return sum;
}

// a dx + b dy + c as a sum of two floats, the smaller one in *low. The products are written as
// fma(a, dx, 0) so that no compiler contracts them into the sums.
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

// The integer below high + low in *whole, and the fraction above it in [0, 1].
WA_INLINE float wa_split(float high, float low, int* whole) {
  const float below = WA_FLOOR(high);
  const float rest = (high - below) + low;
  const float carry = WA_FLOOR(rest);
  *whole = (int)below + (int)carry;
  return rest - carry;
}

#endif
