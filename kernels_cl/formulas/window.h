// Tukey's window.
#ifndef WARPALIGN_FORMULAS_WINDOW_H
#define WARPALIGN_FORMULAS_WINDOW_H

#include "formulas/language.h"

// Tukey's window, the tapered cosine: sin^2(pi/2 (i + 1/2) / ramp) over the first `ramp` of n, the
// same falling at the end, 1 between. Ramps are at most n / 2.
WA_INLINE float wa_tukey_window(int i, int n, float ramp) {
  const float from_end = (float)(i < n - 1 - i ? i : n - 1 - i) + 0.5f;
  if (from_end >= ramp) return 1.0f;
  const float s = WA_SINPI(0.5f * from_end / ramp);
  return s * s;
}

#endif
