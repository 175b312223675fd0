// Bilinear interpolation (interview text, equations 1 to 4).
#ifndef WARPALIGN_FORMULAS_BILINEAR_H
#define WARPALIGN_FORMULAS_BILINEAR_H

#include "formulas/language.h"

WA_INLINE WA_REAL wa_lerp(WA_REAL from, WA_REAL to, WA_REAL t) {
  return WA_FMA(t, to - from, from);
}

// a and b are the fractions along x and y; h<x><y> are the four neighbours.
WA_INLINE WA_REAL wa_bilinear(WA_REAL h00, WA_REAL h10, WA_REAL h01, WA_REAL h11, WA_REAL a,
                              WA_REAL b) {
  return wa_lerp(wa_lerp(h00, h10, a), wa_lerp(h01, h11, a), b);
}

#endif
