// The sum of a number over a work-group, for kernels that both compilers take.
#ifndef WARPALIGN_SHARED_GROUP_SUM_H
#define WARPALIGN_SHARED_GROUP_SUM_H

#include "shared/kernel_language.h"

// Adds `value` over the work-group, of a power of two of `group` work-items, the number of which is
// `item`; all get the sum. `sums` has room for a float for each.
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
