// The Hann window.
#ifndef WARPALIGN_FORMULAS_WINDOW_H
#define WARPALIGN_FORMULAS_WINDOW_H

#include "formulas/language.h"

// sin^2(pi (i + 1/2) / n), i = 0 ... n - 1.
WA_INLINE float wa_hann(int i, float one_over_n) {
  const float s = WA_SINPI(((float)i + 0.5f) * one_over_n);
  return s * s;
}

#endif
