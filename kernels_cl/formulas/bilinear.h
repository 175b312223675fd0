// Bilinear interpolation (interview text, equations 1 to 4).
#ifndef WARPALIGN_FORMULAS_BILINEAR_H
#define WARPALIGN_FORMULAS_BILINEAR_H

#include "formulas/language.h"

WA_INLINE float wa_lerp(float from, float to, float t) { return WA_FMA(t, to - from, from); }

// a and b are the fractions along x and y; h<x><y> are the four neighbours.
WA_INLINE float wa_bilinear(float h00, float h10, float h01, float h11, float a, float b) {
  return wa_lerp(wa_lerp(h00, h10, a), wa_lerp(h01, h11, a), b);
}

#endif
