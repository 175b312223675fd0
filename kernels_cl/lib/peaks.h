// The maxima of images and their positions, for kernels that find peaks in two stages.
//
// Option: GROUP, the size of the work-group that best_of_group() serves, a power of two.
#ifndef WARPALIGN_LIB_PEAKS_H
#define WARPALIGN_LIB_PEAKS_H

#include "formulas/language.h"

#define NOWHERE 0xffffffffu

typedef struct {
  float value;
  uint index;  // row-major within the slice; NOWHERE when every pixel seen is NaN
} Best;

// The larger value or, where both are equal, the earlier pixel. NaN compares false and never wins.
WA_INLINE Best better(Best a, Best b) {
  const bool take_b = b.value > a.value || (b.value == a.value && b.index < a.index);
  return take_b ? b : a;
}

WA_INLINE Best nothing(void) {
  Best none = {-INFINITY, NOWHERE};
  return none;
}

#ifdef GROUP
// Returns the group's best, valid in every work-item. Every work-item must call it.
WA_INLINE Best best_of_group(Best mine, local Best* shared) {
  const int item = (int)get_local_id(0);
  shared[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    if (item < half_group) shared[item] = better(shared[item], shared[item + half_group]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return shared[0];
}

// The best of the `count` partial maxima of a slice. Every work-item must call it.
WA_INLINE Best best_of_partials(global const Best* partials, size_t slice, uint count,
                                local Best* shared) {
  Best mine = nothing();
  for (uint i = (uint)get_local_id(0); i < count; i += GROUP) {
    mine = better(mine, partials[slice * count + i]);
  }
  return best_of_group(mine, shared);
}
#endif

// The best of sixteen lanes. The value of lane k comes from pixel blocks[k] + k.
WA_INLINE Best best_of_lanes(float16 values, uint16 blocks) {
  Best best = nothing();
  for (uint lane = 0; lane < 16; ++lane) {
    const uint block = ((const uint*)&blocks)[lane];
    const Best mine = {((const float*)&values)[lane], block == NOWHERE ? NOWHERE : block + lane};
    best = better(best, mine);
  }
  return best;
}

// The pixel of a peak; the first pixel if all are NaN.
WA_INLINE int2 position_of(Best peak, int width) {
  const uint index = peak.index == NOWHERE ? 0u : peak.index;
  return (int2)((int)(index % (uint)width), (int)(index / (uint)width));
}

// Number n of the 3 x 3 pixels around a pixel, row-major; the image is periodic.
WA_INLINE int2 neighbour(int2 place, int n, int width, int height) {
  return (int2)((place.x + n % 3 - 1 + width) % width, (place.y + n / 3 - 1 + height) % height);
}

// A record is 12 words: value, x, y, 3 x 3 neighbours. This writes all but the outer neighbours.
WA_INLINE void write_peak(Best peak, int2 place, global uint* record) {
  record[0] = as_uint(peak.value);
  record[1] = (uint)place.x;
  record[2] = (uint)place.y;
  record[7] = as_uint(peak.value);
}

#endif
