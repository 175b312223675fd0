// The sums of a field of orientations, for CPUs: like shared/direction_sums.cl, with sixteen pixels
// at a time and a run of pixels per work-item.
//
// variant: cpu
#include "lib/simd.h"

// The number of vectors that are summed separately, for less rounding.
#define VECTORS_APART 64

typedef struct {
  float16 cosines, sines, squares;
} Sums;

// Writes sum i of run r to sums[(first + i) runs + r]. `share`: the pixels of a run, a multiple of
// sixteen.
SIMD_KERNEL direction_sums(
    global const float* cosines, global const float* sines, int pixels, int share, int runs,
    int first, global float* sums) {
  const int run = (int)get_global_id(0);
  const int begin = min(run * share, pixels);
  const int end = min(begin + share, pixels);
  Sums all = {0.0f, 0.0f, 0.0f};
  int16 directed = 0;
#pragma unroll 1
  for (int part = begin; part < end; part += 16 * VECTORS_APART) {
    const int part_end = min(part + 16 * VECTORS_APART, end);
    Sums some = {0.0f, 0.0f, 0.0f};
#pragma unroll 1
    for (int i = part; i < part_end; i += 16) {
      const float16 c = load_some(cosines + i, part_end - i);
      const float16 s = load_some(sines + i, part_end - i);
      some.cosines += c;
      some.sines += s;
      some.squares += fma(c, c, s * s);
      directed -= (c != 0.0f) | (s != 0.0f);
    }
    all.cosines += some.cosines;
    all.sines += some.sines;
    all.squares += some.squares;
  }
  sums += first * runs + run;
  sums[0] = sum_of_lanes(all.cosines);
  sums[runs] = sum_of_lanes(all.sines);
  sums[2 * runs] = sum_of_lanes(all.squares);
  sums[3 * runs] = sum_of_lanes(convert_float16(directed));
}
