// The states of Gauss-Newton fits that stay on the device, in the layout that the kernels of their
// sums read.
#ifndef WARPALIGN_FORMULAS_RESIDENT_STATE_H
#define WARPALIGN_FORMULAS_RESIDENT_STATE_H

#include "formulas/language.h"

// As warpalign::ResidentState: the state at which the sums are evaluated. Its matrix refers to
// pixels, and each number is the sum of two floats.
typedef struct {
  float matrix[9], rest[9];
  float centre_x, centre_y, inverse_unit;
  float gain, offset, inverse_scale;
  int active;
} WaSumsState;

#endif
