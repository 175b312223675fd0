// Local normalization of a value by the mean and the standard deviation of its neighbourhood.
#ifndef WARPALIGN_FORMULAS_LOCAL_CONTRAST_H
#define WARPALIGN_FORMULAS_LOCAL_CONTRAST_H

#include "formulas/language.h"

// (v - m) / sqrt(d^2 + floor^2), with the mean m and the standard deviation d from the
// neighbourhood's sums of weights, of values and of squares.
WA_INLINE WA_REAL wa_normalize(WA_REAL value, WA_REAL weights, WA_REAL values, WA_REAL squares,
                               float floor_square) {
  const WA_REAL mean = values / weights;
  const WA_REAL variance = squares / weights - mean * mean;
  return (value - mean) / WA_SQRT((variance > 0.0f ? variance : WA_NUMBER(0.0f)) + floor_square);
}

#endif
