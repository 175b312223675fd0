// One step of many Gauss-Newton fits that stay on the device.
//
// A work-group adds the sums of one fit; one of its work-items takes the step and writes the states
// at which the next sums are evaluated. All work-items measure how far a homography moves the
// images, on a grid of points.
//
// Options: GROUP, the size of the work-group, a power of two; PROJECTIVE, for the eight parameters
// of a homography instead of the four of a similarity.
//
// variant: gpu -DGROUP=128
// variant: gpu -DGROUP=128 -DPROJECTIVE
#include "shared/fit_step_parts.h"

WA_KERNEL(GROUP, 1)
fit_step(WA_GLOBAL WaFitRecord* records, WA_GLOBAL WaSumsState* states,
         WA_GLOBAL const float* partials) {
  WA_BEGIN();
  WA_LOCAL int steps;
  WA_LOCAL float totals[2 * SUMS];
  WA_LOCAL float maps[27];
  WA_LOCAL float grid[GRID_SUMS * GROUP];  // with PROJECTIVE
  WA_GLOBAL WaFitRecord* record = records + WA_GROUP_X;
  // Variable fields are read before the first barrier and written after it. If the fit has ended,
  // the kernel does not return here: PoCL 3.1 would then run the last lines once for each
  // work-item.
  const int phase = wa_phase_of(record);
  const int totals_wanted = phase == WA_FIT_BEGIN || phase == WA_FIT_STEP ? 2 * SUMS : 0;
  for (int i = WA_ITEM_X; i < totals_wanted; i += GROUP) {
    const int channel = i < SUMS ? 0 : 1;
    totals[i] =
        channel < record->channels
            ? wa_total(partials + record->partials[channel] + (i - channel * SUMS) * record->groups,
                       record->groups)
            : 0.0f;
  }
  WA_BARRIER();
  wa_step(phase, totals, record, WA_ITEM_X, &steps, maps, grid);
  if (WA_ITEM_X == 0 && phase != WA_FIT_ENDED) wa_put_states(record, states);
}
