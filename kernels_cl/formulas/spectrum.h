// Weights, sums and reciprocal magnitudes of Fourier coefficients.
#ifndef WARPALIGN_FORMULAS_SPECTRUM_H
#define WARPALIGN_FORMULAS_SPECTRUM_H

#include "formulas/language.h"

// The frequency of row v of n in cycles per n pixels, in -n/2 ... n/2.
WA_INLINE int wa_signed_frequency(int v, int n) { return 2 * v > n ? v - n : v; }

// exp(-rho^2 / (2 sigma^2)), with rho in units of the Nyquist frequency and falloff = 1 / (2
// sigma^2), or 0 for no weighting.
WA_INLINE float wa_gaussian_weight(float rho_square, float falloff) {
  return WA_EXP(-falloff * rho_square);
}

// How often column u of the half spectrum of an image of `width` columns occurs in the whole
// spectrum.
WA_INLINE float wa_column_weight(int u, int width) {
  return u == 0 || 2 * u == width ? 1.0f : 2.0f;
}

// Adds to the sums of warpalign::SpectrumSums, in their order; scale is 1 / N.
#define WA_SPECTRUM_SUMS 3
WA_INLINE void wa_spectrum_add(float a_re, float a_im, float b_re, float b_im, float weight,
                               float scale, float* sums) {
  const float a = WA_FMA(a_re, a_re * scale, a_im * (a_im * scale));
  const float b = WA_FMA(b_re, b_re * scale, b_im * (b_im * scale));
  sums[0] = WA_FMA(weight, a, sums[0]);
  sums[1] = WA_FMA(weight, b, sums[1]);
  sums[2] = WA_FMA(weight, a * b, sums[2]);
}

// 1 / |z|, or 0 if z is 0 or not finite. z is scaled by a power of two so that the squares neither
// overflow nor underflow.
WA_INLINE WA_REAL wa_reciprocal_magnitude(WA_REAL re, WA_REAL im) {
  const WA_REAL size = fmax(WA_FABS(re), WA_FABS(im));
  const WA_REAL scale = size > 1e18f ? WA_NUMBER(0x1p-66f)
                                     : (size < 1e-18f ? WA_NUMBER(0x1p+64f) : WA_NUMBER(1.0f));
  const WA_REAL r = re * scale;
  const WA_REAL i = im * scale;
  const WA_REAL square = WA_FMA(r, r, i * i);
  // The square is NaN if one part is NaN and fmax() has ignored it.
  return size > 1e-37f && size <= 3e38f && square > 0.0f ? scale * WA_RSQRT(square)
                                                          : WA_NUMBER(0.0f);
}

#endif
