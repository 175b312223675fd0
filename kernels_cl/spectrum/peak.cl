// The maximum of each slice with its coordinates and neighbours, by a parallel reduction in two
// stages (registration paper, section 4).
//
// Options: GROUP, the work-group's size, a power of two; SIMD, for CPUs: the first stage uses
// vectors of sixteen pixels.
//
// variant: gpu -DGROUP=256
// variant: cpu -DGROUP=64 -DSIMD
#include "lib/launch.h"
#include "lib/peaks.h"
#include "lib/simd_kernel.h"

#ifdef SIMD

#define SHARE WA_PEAK_SHARE

// Work-item x processes SHARE pixels of slice y, from pixel x * SHARE on.
SIMD_KERNEL peak_partial(global const float* input, uint plane, global Best* partials) {
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
  Best best = best_of_lanes(values, blocks);
  // The remaining pixels; all pixels again if those so far were NaN or -infinity.
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

// One work-group per slice.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void peak_final(
    global const float* input, int width, int height, global const Best* partials, uint count,
    global uint* records) {
  local Best shared[GROUP];
  const size_t slice = get_global_id(1);
  const Best mine = best_of_partials(partials, slice, count, shared);
  if (get_local_id(0) != 0) return;
  const int2 place = position_of(mine, width);
  global const float* pixels = input + slice * (size_t)width * (size_t)height;
  global uint* record = records + slice * 12;
  for (int n = 0; n < 9; ++n) {
    const int2 at = neighbour(place, n, width, height);
    record[3 + n] = as_uint(pixels[(size_t)at.y * (size_t)width + (size_t)at.x]);
  }
  write_peak(mine, place, record);
}
