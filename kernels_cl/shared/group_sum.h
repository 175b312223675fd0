// The sum of a number over a work-group, for kernels that OpenCL and nvcc compile.
#ifndef WARPALIGN_SHARED_GROUP_SUM_H
#define WARPALIGN_SHARED_GROUP_SUM_H

#include "shared/kernel_language.h"

// Sums `value` over the work-group. `group` is its number of work-items, a power of two, and `item`
// the index of this one; all get the sum. `sums` has room for one float per work-item.
#define WA_ADD_UP(sums, item, group, value)                          \
  sums[item] = value;                                                \
  WA_BARRIER();                                                      \
  for (int reached = (group) / 2; reached > 0; reached /= 2) {       \
    if (item < reached) sums[item] += sums[item + reached];          \
    WA_BARRIER();                                                    \
  }                                                                  \
  value = sums[0];                                                   \
  WA_BARRIER();

#endif
