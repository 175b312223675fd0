// The states of Gauss-Newton fits that stay on the device, as the kernels of their sums read them.
#ifndef WARPALIGN_FORMULAS_RESIDENT_STATE_H
#define WARPALIGN_FORMULAS_RESIDENT_STATE_H

#include "formulas/language.h"

// As warpalign::ResidentState: the state at which sums are evaluated, its matrix being one of
// pixels, of which each number is the sum of two floats.
typedef struct {
  float matrix[9], rest[9];
  float centre_x, centre_y, inverse_unit;
  float gain, offset, inverse_scale;
  int active;
} WaSumsState;

#endif
