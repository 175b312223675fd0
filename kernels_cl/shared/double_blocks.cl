// The recursive prefilter in double precision, for GPUs: a group filters a block of some lines in
// local memory, together with samples before and behind it (formulas/double_blocks.h).
//
// Options: TWO_POLES, for a filter of two poles.
//
// variant: gpu
// variant: gpu -DTWO_POLES
#include "formulas/boundary.h"
#include "formulas/double_blocks.h"
#include "formulas/double_spline.h"
#include "shared/kernel_language.h"

#ifdef TWO_POLES
#define WARM_UP WA_WARM_UP_OF_TWO_POLES
#else
#define WARM_UP WA_WARM_UP_OF_ONE_POLE
#endif
#define BLOCK (WA_BLOCK_WINDOW - 2 * WARM_UP)
// One more than the lanes, so that the samples of a line are in different banks.
#define PITCH (WA_BLOCK_LANES + 1)

WA_INLINE WA_UINT64 wa_first_of_line(WA_UINT64 number, int n, WA_UINT64 stride) {
  return number / stride * stride * (WA_UINT64)n + number % stride;
}

// Divisions of 64 bits take long on GPUs: a work-item has one line of those that need them. Loads
// of AT_ONCE samples do not wait for one another.
#define AT_ONCE 4
#if WA_BLOCK_WINDOW * WA_BLOCK_LANES % (AT_ONCE * WA_BLOCK_ITEMS) != 0
#error a window must be loaded by whole steps
#endif
// Neighbours in memory are those of neighbouring work-items: the samples of a line, or the lines.
#define LANE_OF(i, count) (stride == 1 ? (i) / (count) : (i) % WA_BLOCK_LANES)
#define SAMPLE_OF(i, count) (stride == 1 ? (i) % (count) : (i) / WA_BLOCK_LANES)
#define LINE_OF(lane) (stride == 1 ? (first_line + (WA_UINT64)(lane)) * (WA_UINT64)n : own_line)

// Filters `lines` lines of n samples, which are `stride` apart, in `blocks` blocks each, for one
// pole or two; second_pole is 0 if there is only one. Source and target differ.
WA_KERNEL(WA_BLOCK_ITEMS, 1)
prefilter_double_blocks(WA_GLOBAL const double* source, int n, WA_UINT64 stride, WA_UINT64 lines,
                        int blocks, int extension, double pole, double second_pole,
                        WA_GLOBAL double* target) {
  WA_LOCAL double values[WA_BLOCK_WINDOW * PITCH];
  WA_BEGIN();
  const int block = WA_GROUP_X % blocks;
  const WA_UINT64 first_line = (WA_UINT64)(WA_GROUP_X / blocks) * WA_BLOCK_LANES;
  const int begin = block * BLOCK;
  const WA_UINT64 own_line =
      wa_first_of_line(first_line + (WA_UINT64)(WA_ITEM_X % WA_BLOCK_LANES), n, stride);
  double gain = 1.0;
  if (n > 1) gain = (1.0 - pole) * (1.0 - 1.0 / pole);
  if (n > 1 && second_pole != 0.0) gain *= (1.0 - second_pole) * (1.0 - 1.0 / second_pole);
  for (int first = WA_ITEM_X; first < WA_BLOCK_WINDOW * WA_BLOCK_LANES;
       first += AT_ONCE * WA_BLOCK_ITEMS) {
    double loaded[AT_ONCE];
    WA_UNROLL
    for (int u = 0; u < AT_ONCE; ++u) {
      const int i = first + u * WA_BLOCK_ITEMS;
      const int lane = LANE_OF(i, WA_BLOCK_WINDOW);
      const int at = wa_extend(extension, begin - WARM_UP + SAMPLE_OF(i, WA_BLOCK_WINDOW), n);
      const bool is_line = first_line + (WA_UINT64)lane < lines;
      loaded[u] = is_line ? source[LINE_OF(lane) + (WA_UINT64)at * stride] : 0.0;
    }
    WA_UNROLL
    for (int u = 0; u < AT_ONCE; ++u) {
      const int i = first + u * WA_BLOCK_ITEMS;
      values[SAMPLE_OF(i, WA_BLOCK_WINDOW) * PITCH + LANE_OF(i, WA_BLOCK_WINDOW)] =
          gain * loaded[u];
    }
  }
  WA_BARRIER();
  if (WA_ITEM_X < WA_BLOCK_LANES && first_line + (WA_UINT64)WA_ITEM_X < lines && n > 1) {
    WA_IN_LOCAL double* line = values + WA_ITEM_X;
    for (int pass = 0; pass < (second_pole != 0.0 ? 2 : 1); ++pass) {
      const double z = pass == 0 ? pole : second_pole;
      double before = line[0];
      for (int k = 1; k < WA_BLOCK_WINDOW; ++k) {
        before = line[k * PITCH] + z * before;
        line[k * PITCH] = before;
      }
      for (int k = WA_BLOCK_WINDOW - 2; k >= 0; --k) {
        before = z * (before - line[k * PITCH]);
        line[k * PITCH] = before;
      }
    }
  }
  WA_BARRIER();
  for (int i = WA_ITEM_X; i < BLOCK * WA_BLOCK_LANES; i += WA_BLOCK_ITEMS) {
    const int lane = LANE_OF(i, BLOCK);
    const int k = SAMPLE_OF(i, BLOCK);
    if (begin + k < n && first_line + (WA_UINT64)lane < lines) {
      const double value = values[(k + WARM_UP) * PITCH + lane];
      target[LINE_OF(lane) + (WA_UINT64)(begin + k) * stride] = value;
    }
  }
}
#undef LINE_OF
#undef SAMPLE_OF
#undef LANE_OF
#undef AT_ONCE
#undef PITCH
#undef BLOCK
#undef WARM_UP
