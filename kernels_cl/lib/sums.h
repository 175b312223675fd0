// Adds the sums of all work-items of a work-group, for OpenCL kernels only.
//
// Option: GROUP, the work-group's size, a power of two.
#ifndef WARPALIGN_LIB_SUMS_H
#define WARPALIGN_LIB_SUMS_H

#include "formulas/language.h"

#define SUMS_AT_ONCE 8
// The numbers in local memory that store_sums() needs.
#define SUMS_ROOM (SUMS_AT_ONCE * GROUP)

// Adds sum i over the work-items of group number `group` and writes it to partials[i groups +
// group]. Every work-item must call it. Several sums share the barriers, which would otherwise take
// longer than the additions.
WA_INLINE void store_sums(const float* sums, int count, local float* shared,
                          global float* partials, int group, int groups) {
  const int item = (int)get_local_id(0);
  // Unrolled, so that the sums stay in registers however many they are.
  WA_UNROLL
  for (int first = 0; first < count; first += SUMS_AT_ONCE) {
    const int some = min(SUMS_AT_ONCE, count - first);
    WA_UNROLL
    for (int k = 0; k < SUMS_AT_ONCE; ++k) {
      if (first + k < count) shared[k * GROUP + item] = sums[first + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int reached = GROUP / 2; reached > 0; reached /= 2) {
      for (int i = item; i < some * reached; i += GROUP) {
        local float* sum = shared + (i / reached) * GROUP + i % reached;
        *sum += sum[reached];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int k = item; k < some; k += GROUP) {
      partials[(first + k) * groups + group] = shared[k * GROUP];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// The same for a grid of which each row of work-groups has sums of its own.
WA_INLINE void store_group_sums(const float* sums, int count, local float* shared,
                                global float* partials) {
  store_sums(sums, count, shared, partials, (int)get_group_id(0), (int)get_num_groups(0));
}

#endif
