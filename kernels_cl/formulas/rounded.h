// Rounding to the integers of a pixel type.
#ifndef WARPALIGN_FORMULAS_ROUNDED_H
#define WARPALIGN_FORMULAS_ROUNDED_H

#include "formulas/language.h"

// The nearest integer, halves away from zero, within the type's range; 0 for NaN.
WA_INLINE float wa_rounded(float value, float lowest, float highest) {
  if (!(value == value)) return 0.0f;
  const float nearest = WA_ROUND(value);
  return nearest < lowest ? lowest : nearest > highest ? highest : nearest;
}

#endif
