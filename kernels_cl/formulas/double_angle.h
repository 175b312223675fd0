// The double-angle representation of a gradient.
#ifndef WARPALIGN_FORMULAS_DOUBLE_ANGLE_H
#define WARPALIGN_FORMULAS_DOUBLE_ANGLE_H

#include "formulas/language.h"

// A pixel is valid if its weight is at least this.
#define WA_DOUBLE_ANGLE_MIN_WEIGHT 0.99f

// The normalization of all pixels of a slice, in the host's layout: the mean, and the gain.
typedef struct {
  float mean_cosine, mean_sine, gain;
} WaDoubleAngleTerms;

// Cosine and sine of (gx + i gy)^2 / (|g|^2 + epsilon), computed from twice the gradient, minus the
// mean, times the gain.
WA_INLINE void wa_double_angle(WA_REAL twice_gx, WA_REAL twice_gy, float epsilon,
                               WaDoubleAngleTerms terms, WA_REAL* cosine, WA_REAL* sine) {
  const WA_REAL gx = 0.5f * twice_gx;
  const WA_REAL gy = 0.5f * twice_gy;
  const WA_REAL scale = 1.0f / (WA_FMA(gx, gx, WA_FMA(gy, gy, WA_NUMBER(epsilon))));
  const WA_REAL u = (gx - gy) * (gx + gy) * scale;
  const WA_REAL v = 2.0f * gx * gy * scale;
  *cosine = terms.gain * (u - terms.mean_cosine);
  *sine = terms.gain * (v - terms.mean_sine);
}

#endif
