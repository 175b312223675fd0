// The illumination model: gains and offsets at the centres of square cells, interpolated linearly.
#ifndef WARPALIGN_FORMULAS_ILLUMINATION_H
#define WARPALIGN_FORMULAS_ILLUMINATION_H

#include "formulas/language.h"

// Finds the cells before and after a pixel along an axis with `cells` cells; returns the weight of
// the second. Pixels beyond the outermost cell centres take the values of the outermost cells.
WA_INLINE float wa_illumination_cells(int pixel, float inverse_side, int cells, int* before,
                                      int* after) {
  const float at = WA_FMA((float)pixel + 0.5f, inverse_side, -0.5f);
  const float last = (float)(cells - 1);
  const float within = at > 0.0f ? (at < last ? at : last) : 0.0f;
  *before = (int)within;
  *after = *before + 1 < cells ? *before + 1 : *before;
  return within - (float)*before;
}

WA_INLINE WA_REAL wa_illumination_between(WA_REAL a, WA_REAL b, WA_REAL part) {
  return WA_FMA(part, b - a, a);
}

// Bilinear interpolation between (a b) in the upper and (c d) in the lower row.
WA_INLINE WA_REAL wa_illumination_mix(WA_REAL a, WA_REAL b, WA_REAL c, WA_REAL d, WA_REAL right,
                                      WA_REAL down) {
  return wa_illumination_between(wa_illumination_between(a, b, right),
                                 wa_illumination_between(c, d, right), down);
}

#endif
