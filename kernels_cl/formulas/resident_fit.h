// Gauss-Newton fits that stay on the device: the record of a fit, and its conversion to the states
// at which the sums are evaluated. For kernels only.
#ifndef WARPALIGN_FORMULAS_RESIDENT_FIT_H
#define WARPALIGN_FORMULAS_RESIDENT_FIT_H

#include "formulas/affine.h"
#include "formulas/fit_steps.h"
#include "formulas/resident_state.h"

// The next task for a fit.
#define WA_FIT_WRITE_STATES 0  // write its states
#define WA_FIT_BEGIN 1     // compute the sums at the start
#define WA_FIT_STEP 2
#define WA_FIT_ENDED 3  // never in a record: follows from WaFit

// As warpalign::FitRecord. The sums of channel c are those of state states[c]: sum i of `groups`
// work-groups is stored from number partials[c] + i groups on.
typedef struct {
  int phase, channels, groups;
  int states[2], partials[2];
  WaFit fit;
} WaFitRecord;

// Shifts the points to which a column of a homography maps.
WA_INLINE void wa_shift_column(int column, float by_x, float by_y, float* matrix, float* rest) {
  const float divisor = matrix[6 + column];
  wa_add_product(by_x, 0.0f, divisor, &matrix[column], &rest[column]);
  wa_add_product(by_y, 0.0f, divisor, &matrix[3 + column], &rest[3 + column]);
}

// Makes a row of a homography apply to points that are shifted by (-x, -y).
WA_INLINE void wa_shift_row(float x, float y, float* matrix, float* rest) {
  wa_add_product(matrix[0], rest[0], -x, &matrix[2], &rest[2]);
  wa_add_product(matrix[1], rest[1], -y, &matrix[2], &rest[2]);
  matrix[2] = wa_two_sum(matrix[2], rest[2], &rest[2]);
}

// The state of a channel.
WA_INLINE WaSumsState wa_sums_state(const WaFit* fit, int channel) {
  WaSumsState state;
  WA_UNROLL
  for (int i = 0; i < 9; ++i) {
    state.matrix[i] = fit->matrix[i];
    state.rest[i] = 0.0f;
  }
  WA_UNROLL
  for (int column = 0; column < 3; ++column) {
    wa_shift_column(column, fit->moving_x, fit->moving_y, state.matrix, state.rest);
  }
  WA_UNROLL
  for (int row = 0; row < 3; ++row) {
    wa_shift_row(fit->reference_x, fit->reference_y, state.matrix + 3 * row, state.rest + 3 * row);
  }
  state.centre_x = fit->centre_x + fit->moving_x;
  state.centre_y = fit->centre_y + fit->moving_y;
  state.inverse_unit = 1.0f / fit->unit;
  state.gain = fit->gain;
  state.offset = channel == 1 ? fit->second_offset : fit->offset;
  state.inverse_scale = fit->scale > 0.0f ? 1.0f / fit->scale : 0.0f;
  state.active = fit->in_progress;
  return state;
}

#endif
