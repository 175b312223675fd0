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

// Runs `statement` for the samples k of the lines `lane` of the group, of which neighbours in
// memory are those of neighbouring work-items.
#define FOR_EACH_SAMPLE(count, statement)                                    \
  for (int i = WA_ITEM_X; i < (count)*WA_BLOCK_LANES; i += WA_BLOCK_ITEMS) { \
    const int lane = stride == 1 ? i / (count) : i % WA_BLOCK_LANES;         \
    const int k = stride == 1 ? i % (count) : i / WA_BLOCK_LANES;            \
    const WA_UINT64 number = first_line + (WA_UINT64)lane;                   \
    if (number < lines) statement;                                           \
  }

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
  double gain = 1.0;
  if (n > 1) gain = (1.0 - pole) * (1.0 - 1.0 / pole);
  if (n > 1 && second_pole != 0.0) gain *= (1.0 - second_pole) * (1.0 - 1.0 / second_pole);
  FOR_EACH_SAMPLE(WA_BLOCK_WINDOW, {
    const int at = wa_extend(extension, begin - WARM_UP + k, n);
    values[k * PITCH + lane] =
        gain * source[wa_first_of_line(number, n, stride) + (WA_UINT64)at * stride];
  })
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
  FOR_EACH_SAMPLE(BLOCK, {
    if (begin + k < n) {
      target[wa_first_of_line(number, n, stride) + (WA_UINT64)(begin + k) * stride] =
          values[(k + WARM_UP) * PITCH + lane];
    }
  })
}
#undef FOR_EACH_SAMPLE
#undef PITCH
#undef BLOCK
#undef WARM_UP
