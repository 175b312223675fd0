// Powers of the magnitude of Fourier coefficients: of one coefficient or, in OpenCL, of a vector of
// them (WA_REAL).
#ifndef WARPALIGN_FORMULAS_MAGNITUDE_H
#define WARPALIGN_FORMULAS_MAGNITUDE_H

#include "formulas/language.h"

// |F|^(2 half_exponent) = 2^(half_exponent log2 |F|^2), which costs a third of a power function. If
// the square would overflow or underflow, F is first scaled by a power of two, whose logarithm is
// exact.
WA_INLINE WA_REAL wa_magnitude_power(WA_REAL re, WA_REAL im, float half_exponent) {
  const WA_REAL one = (WA_REAL)(1.0f);
  const WA_REAL zero = (WA_REAL)(0.0f);
  const WA_REAL size = fmax(WA_FABS(re), WA_FABS(im));
  const WA_REAL scale =
      size > 1e18f ? (WA_REAL)(0x1p-64f) : (size < 1e-18f ? (WA_REAL)(0x1p+64f) : one);
  const WA_REAL log2_of_scale_squared =
      size > 1e18f ? (WA_REAL)(128.0f) : (size < 1e-18f ? (WA_REAL)(-128.0f) : zero);
  const WA_REAL r = re * scale;
  const WA_REAL i = im * scale;
  const WA_REAL square = WA_FMA(r, r, i * i);
  const WA_REAL power = WA_EXP2(half_exponent * (WA_LOG2(square) + log2_of_scale_squared));
  return size > 0.0f ? power : zero;
}

#endif
