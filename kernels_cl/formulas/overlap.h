// Correlation scored by the overlap: which shifts are admitted, and their scores.
#ifndef WARPALIGN_FORMULAS_OVERLAP_H
#define WARPALIGN_FORMULAS_OVERLAP_H

#include "formulas/language.h"

// The distance of shift i from `centre` along a periodic axis of n pixels, signed.
WA_INLINE float wa_shift_distance(int i, float centre, int n) {
  const float distance = (float)i - centre;
  const float turns = WA_FLOOR(distance / (float)n + 0.5f);
  return WA_FMA(-turns, (float)n, distance);
}

// reach2: the square of the maximum distance of a shift; 0 admits any distance.
WA_INLINE int wa_shift_allowed(float dx, float dy, float reach2) {
  return reach2 <= 0.0f || WA_FMA(dx, dx, dy * dy) <= reach2;
}

// The score C / sqrt(N) from unnormalised inverse transforms, where `normalization` is one over
// their number of pixels; 0 where the overlap N is too small.
WA_INLINE float wa_overlap_score(float correlation, float overlap, float normalization,
                                 float min_overlap) {
  const float pixels = overlap * normalization;
  const float enough = pixels >= min_overlap ? pixels : min_overlap;
  const float score = correlation * normalization / WA_SQRT(enough);
  return pixels >= min_overlap ? score : 0.0f;
}

#endif
