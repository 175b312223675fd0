// The window that tapers images and volumes towards their edges.
#ifndef WARPALIGN_FORMULAS_WINDOW_H
#define WARPALIGN_FORMULAS_WINDOW_H

#include "formulas/language.h"

// Tukey's window (tapered cosine): sin^2(pi/2 (i + 1/2) / ramp) over the first `ramp` of n samples,
// its mirror image at the end, and 1 in between. The ramp is at most n / 2.
WA_INLINE float wa_tukey_window(int i, int n, float ramp) {
  const float from_end = (float)(i < n - 1 - i ? i : n - 1 - i) + 0.5f;
  if (from_end >= ramp) return 1.0f;
  const float s = WA_SINPI(0.5f * from_end / ramp);
  return s * s;
}

#endif
