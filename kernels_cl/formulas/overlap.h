// Correlation scored by the overlap: which shifts are admitted, and their scores.
#ifndef WARPALIGN_FORMULAS_OVERLAP_H
#define WARPALIGN_FORMULAS_OVERLAP_H

#include "formulas/language.h"

// A weight, from 0 to 1, as a multiple of 2^-12: sums of such integers are exact in any order, up to
// 2^20 of them.
#define WA_OVERLAP_UNIT 4096.0f

// The distance of shift i from `centre` along a periodic axis of n pixels, signed.
WA_INLINE WA_REAL wa_shift_distance(WA_REAL i, float centre, float n) {
  const WA_REAL distance = i - centre;
  const WA_REAL turns = WA_FLOOR(distance / n + 0.5f);
  return WA_FMA(-turns, WA_NUMBER(n), distance);
}

WA_INLINE WA_REAL wa_shift_square(WA_REAL dx, WA_REAL dy) { return WA_FMA(dx, dx, dy * dy); }

// The score C / sqrt(N) from unnormalised inverse transforms, where `normalization` is one over
// their number of pixels; 0 where the overlap N is too small.
WA_INLINE WA_REAL wa_overlap_score(WA_REAL correlation, WA_REAL overlap, float normalization,
                                   float min_overlap) {
  const WA_REAL minimum = WA_NUMBER(min_overlap);
  const WA_REAL pixels = overlap * normalization;
  const WA_REAL enough = pixels >= minimum ? pixels : minimum;
  const WA_REAL score = correlation * normalization / WA_SQRT(enough);
  return pixels >= minimum ? score : WA_NUMBER(0.0f);
}

#endif
