// Brightness and contrast evened out locally: a value by the moments of those around it.
#ifndef WARPALIGN_FORMULAS_LOCAL_CONTRAST_H
#define WARPALIGN_FORMULAS_LOCAL_CONTRAST_H

#include "formulas/language.h"

// (v - m) / sqrt(d^2 + floor^2), from the sums of weights, values and squares around.
WA_INLINE WA_REAL wa_normalize(WA_REAL value, WA_REAL weights, WA_REAL values, WA_REAL squares,
                              float floor_square) {
  const WA_REAL mean = values / weights;
  const WA_REAL variance = squares / weights - mean * mean;
  return (value - mean) / WA_SQRT((variance > 0.0f ? variance : WA_NUMBER(0.0f)) + floor_square);
}

#endif
