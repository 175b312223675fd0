// The impulse noise filter: the test for impulses, and the weights for their replacement.
#ifndef WARPALIGN_FORMULAS_IMPULSE_H
#define WARPALIGN_FORMULAS_IMPULSE_H

#include "formulas/language.h"

// The maximum number of neighbours at the same end of the range that an impulse may have.
#define WA_IMPULSE_MAX_EQUAL 2

// Whether an intensity is at an end of the range [lowest, highest].
WA_INLINE bool wa_is_extreme(float value, float lowest, float highest) {
  return value <= lowest || value >= highest;
}

// The weight of a neighbour at offset (dx, dy): the inverse of its squared distance.
WA_INLINE float wa_fill_weight(int dx, int dy) { return 1.0f / (float)(dx * dx + dy * dy); }

#endif
