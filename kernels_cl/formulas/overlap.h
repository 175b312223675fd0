// Correlation scored by the overlap: which shifts are admitted, and their scores.
#ifndef WARPALIGN_FORMULAS_OVERLAP_H
#define WARPALIGN_FORMULAS_OVERLAP_H

#include "formulas/language.h"

// A weight, from 0 to 1, as a multiple of 2^-12: sums of such integers are exact in any order, up
// to 2^20 of them.
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

// Scores are in the order of their squares with their signs, which take neither a root nor, to be
// compared with a bound, a division: this is such a square times the overlap, from the correlation
// times `normalization`.
WA_INLINE WA_REAL wa_signed_square(WA_REAL normal) { return normal * WA_FABS(normal); }

// Where the signed square of a shift's score, within 2^-20 of itself, is less than this bound, its
// score is certain to be less than one whose signed square is `square`: 2^-16 is far more than all
// rounding of scores. Squares that are so small that floats may not hold their factors are taken
// for alike, and so are those that are as large; where overlaps may be that small, nothing is less.
WA_INLINE float wa_score_bound(float square, float min_overlap) {
  const float least = 0x1p-60f;
  const float most = 0x1p60f;
  if (!(min_overlap >= 0x1p-40f) || !(square >= -most)) return -INFINITY;
  if (square > -least && square < least) return -4.0f * least;
  const float within = square < most ? square : most;
  return within - WA_FABS(within) * 0x1p-16f;
}

#endif
