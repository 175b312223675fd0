// The maximum of each slice with its coordinates and neighbours, by a parallel reduction in two
// stages (registration paper, section 4).
//
// Options: GROUP, the work-group's size, a power of two; SIMD, for CPUs: the first stage uses
// vectors of sixteen pixels.
//
// variant: gpu -DGROUP=256
// variant: cpu -DGROUP=64 -DSIMD
#include "lib/launch.h"

#define NOWHERE 0xffffffffu

typedef struct {
  float value;
  uint index;  // row-major within the slice; NOWHERE when every pixel seen is NaN
} Best;

// The larger value or, where both are equal, the earlier pixel. NaN compares false and never wins.
inline Best better(Best a, Best b) {
  const bool take_b = b.value > a.value || (b.value == a.value && b.index < a.index);
  return take_b ? b : a;
}

inline Best nothing(void) {
  Best none = {-INFINITY, NOWHERE};
  return none;
}

// Returns the group's best, valid in every work-item. Every work-item must call it.
inline Best best_of_group(Best mine, local Best* shared) {
  const int item = (int)get_local_id(0);
  shared[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    if (item < half_group) shared[item] = better(shared[item], shared[item + half_group]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return shared[0];
}

#ifdef SIMD

#define SHARE WA_PEAK_SHARE

// Work-item x processes SHARE pixels of slice y, from pixel x * SHARE on.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void peak_partial(global const float* input,
                                                                        uint plane,
                                                                        global Best* partials) {
  const size_t slice = get_global_id(1);
  global const float* pixels = input + slice * plane;
  const uint first = (uint)get_global_id(0) * SHARE;
  const uint end = first + min(plane - first, (uint)SHARE);
  float16 values = -INFINITY;
  uint16 blocks = NOWHERE;
  uint i = first;
  for (; end - i >= 16; i += 16) {
    const float16 here = vload16(0, pixels + i);
    const int16 larger = here > values;
    values = select(values, here, larger);
    blocks = select(blocks, (uint16)(i), larger);
  }
  Best best = nothing();
  for (uint lane = 0; lane < 16; ++lane) {
    const uint block = ((const uint*)&blocks)[lane];
    const Best mine = {((const float*)&values)[lane], block == NOWHERE ? NOWHERE : block + lane};
    best = better(best, mine);
  }
  // The remaining pixels; if all pixels so far were NaN or -infinity, all of them once more.
  for (i = best.index == NOWHERE ? first : i; i < end; ++i) {
    const Best here = {pixels[i], i};
    best = better(best, here);
  }
  partials[slice * get_num_groups(0) + get_group_id(0)] = best;
}

#else

// Work-groups along x share a slice; y is the slice.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void peak_partial(
    global const float* input, uint plane, global Best* partials) {
  local Best shared[GROUP];
  const size_t slice = get_global_id(1);
  global const float* pixels = input + slice * plane;
  Best mine = nothing();
  for (size_t i = get_global_id(0); i < plane; i += get_global_size(0)) {
    Best here;
    here.value = pixels[i];
    here.index = (uint)i;
    mine = better(mine, here);
  }
  mine = best_of_group(mine, shared);
  if (get_local_id(0) == 0) partials[slice * get_num_groups(0) + get_group_id(0)] = mine;
}

#endif

// One work-group per slice. A record is 12 words: value, x, y, 3 x 3 neighbours.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void peak_final(
    global const float* input, int width, int height, global const Best* partials, uint count,
    global uint* records) {
  local Best shared[GROUP];
  const size_t slice = get_global_id(1);
  Best mine = nothing();
  for (uint i = (uint)get_local_id(0); i < count; i += GROUP) {
    mine = better(mine, partials[slice * count + i]);
  }
  mine = best_of_group(mine, shared);
  if (get_local_id(0) != 0) return;
  const uint index = mine.index == NOWHERE ? 0u : mine.index;
  const int x = (int)(index % (uint)width);
  const int y = (int)(index / (uint)width);
  global const float* pixels = input + slice * (size_t)width * (size_t)height;
  global uint* record = records + slice * 12;
  record[0] = as_uint(mine.value);
  record[1] = (uint)x;
  record[2] = (uint)y;
  for (int n = 0; n < 9; ++n) {
    const int column = (x + n % 3 - 1 + width) % width;
    const int row = (y + n / 3 - 1 + height) % height;
    record[3 + n] = as_uint(pixels[(size_t)row * (size_t)width + (size_t)column]);
  }
  record[7] = as_uint(mine.value);
}
