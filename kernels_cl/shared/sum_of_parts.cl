// Adds the partial sums of several work-groups, in pairs of floats.
//
// Options: SUMS, the number of different sums; GROUP, the size of the work-group.
//
// variant: gpu -DSUMS=25 -DGROUP=32
#include "formulas/affine.h"
#include "shared/kernel_language.h"

// Sum i of part p of group g is partials[((g parts + p) SUMS + i)]; its total, as the sum of two
// floats, becomes totals[2 (g SUMS + i)] and the next one. A work-group adds the parts of one
// group.
WA_KERNEL(GROUP, 1)
sum_of_parts(WA_GLOBAL const float* partials, int parts, WA_GLOBAL float* totals) {
  WA_BEGIN();
  for (int i = WA_ITEM_X; i < SUMS; i += GROUP) {
    WA_GLOBAL const float* next = partials + (WA_UINT64)WA_GROUP_X * parts * SUMS + i;
    float high = 0.0f;
    float low = 0.0f;
#pragma unroll 8
    for (int part = 0; part < parts; ++part) {
      float error;
      high = wa_two_sum(high, next[(WA_UINT64)part * SUMS], &error);
      low += error;
    }
    const WA_UINT64 at = 2 * ((WA_UINT64)WA_GROUP_X * SUMS + i);
    totals[at] = high;
    totals[at + 1] = low;
  }
}
