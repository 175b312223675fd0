// What counts as an impulse, and what fills it.
#ifndef WARPALIGN_FORMULAS_IMPULSE_H
#define WARPALIGN_FORMULAS_IMPULSE_H

#include "formulas/language.h"

// Neighbours at the same end of the range that an impulse may have at most.
#define WA_IMPULSE_COMPANY 2

// Whether a grey level stands at an end of the range [lowest, highest].
WA_INLINE bool wa_at_an_end(float value, float lowest, float highest) {
  return value <= lowest || value >= highest;
}

// The weight of a neighbour (dx, dy) away: the inverse of the squared distance.
WA_INLINE float wa_fill_weight(int dx, int dy) { return 1.0f / (float)(dx * dx + dy * dy); }

#endif
