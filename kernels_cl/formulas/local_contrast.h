// Brightness and contrast evened out locally: a value by the moments of those around it.
#ifndef WARPALIGN_FORMULAS_LOCAL_CONTRAST_H
#define WARPALIGN_FORMULAS_LOCAL_CONTRAST_H

#include "formulas/language.h"

// (v - m) / sqrt(d^2 + floor^2), from the sums of weights, values and squares around.
WA_INLINE float wa_even_out(float value, float weights, float values, float squares,
                            float floor_square) {
  const float mean = values / weights;
  const float variance = squares / weights - mean * mean;
  return (value - mean) / WA_SQRT((variance > 0.0f ? variance : 0.0f) + floor_square);
}

#endif
