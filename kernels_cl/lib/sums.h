// Adds the sums of all work-items of a work-group, for OpenCL kernels only.
//
// Option: GROUP, the work-group's size, a power of two.
#ifndef WARPALIGN_LIB_SUMS_H
#define WARPALIGN_LIB_SUMS_H

#include "formulas/language.h"

// Writes sum i of group g to partials[i groups + g]. Every work-item must call it.
WA_INLINE void store_group_sums(const float* sums, int count, local float* shared,
                                global float* partials) {
  const int item = (int)get_local_id(0);
  // Unrolled, so that the sums stay in registers however many they are.
  WA_UNROLL
  for (int i = 0; i < count; ++i) {
    shared[item] = sums[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
      if (item < half_group) shared[item] += shared[item + half_group];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) partials[i * (int)get_num_groups(0) + (int)get_group_id(0)] = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

#endif
