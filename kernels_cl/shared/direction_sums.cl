// The sums of a field of orientations: of cosines, of sines, of the squares of both, and the number
// of pixels that have an orientation.
//
// Option: GROUP, the size of the work-group, a power of two.
//
// variant: gpu -DGROUP=256
#include "shared/kernel_language.h"

#define DIRECTION_SUMS 4

// Writes sum i of group g to sums[(first + i) groups + g]. Neighbouring work-groups process
// neighbouring pixels.
WA_KERNEL(GROUP, 1)
direction_sums(WA_GLOBAL const float* cosines, WA_GLOBAL const float* sines, int pixels, int groups,
               int first, WA_GLOBAL float* sums) {
  WA_BEGIN();
  WA_LOCAL float lines[DIRECTION_SUMS][GROUP];
  const int item = WA_ITEM_X;
  float of_cosines = 0.0f;
  float of_sines = 0.0f;
  float of_squares = 0.0f;
  int directed = 0;
  // Unrolled, so that several loads are in flight at once.
#pragma unroll 4
  for (int i = WA_GROUP_X * GROUP + item; i < pixels; i += groups * GROUP) {
    const float c = cosines[i];
    const float s = sines[i];
    of_cosines += c;
    of_sines += s;
    of_squares += WA_FMA(c, c, s * s);
    // The squares of a short vector may underflow.
    directed += c != 0.0f || s != 0.0f ? 1 : 0;
  }
  lines[0][item] = of_cosines;
  lines[1][item] = of_sines;
  lines[2][item] = of_squares;
  lines[3][item] = (float)directed;
  for (int reached = GROUP / 2; reached > 0; reached /= 2) {
    WA_BARRIER();
    if (item < reached) {
      for (int i = 0; i < DIRECTION_SUMS; ++i) lines[i][item] += lines[i][item + reached];
    }
  }
  WA_BARRIER();
  if (item == 0) {
    for (int i = 0; i < DIRECTION_SUMS; ++i) {
      sums[(first + i) * groups + WA_GROUP_X] = lines[i][0];
    }
  }
}
