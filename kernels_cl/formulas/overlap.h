// Correlation judged by its overlap: which shifts may win, and what they score.
#ifndef WARPALIGN_FORMULAS_OVERLAP_H
#define WARPALIGN_FORMULAS_OVERLAP_H

#include "formulas/language.h"

// How far shift i lies from `centre` along an axis of n pixels that goes round.
WA_INLINE float wa_shift_distance(int i, float centre, int n) {
  const float distance = (float)i - centre;
  const float turns = WA_FLOOR(distance / (float)n + 0.5f);
  return WA_FMA(-turns, (float)n, distance);
}

// reach2: the square of how far a shift may be; 0: any distance.
WA_INLINE int wa_shift_allowed(float dx, float dy, float reach2) {
  return reach2 <= 0.0f || WA_FMA(dx, dx, dy * dy) <= reach2;
}

// From unnormalised inverse transforms of `plane` pixels: C / sqrt(N); 0 where too little overlaps.
WA_INLINE float wa_overlap_score(float correlation, float overlap, float plane,
                                 float min_overlap) {
  const float pixels = overlap / plane;
  return pixels >= min_overlap ? correlation / plane / WA_SQRT(pixels) : 0.0f;
}

#endif
