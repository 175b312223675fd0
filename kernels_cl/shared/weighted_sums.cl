// Weighted sums of neighbouring samples along the second of three axes.
//
// Options: GROUP, the size of the work-group.
//
// variant: gpu -DGROUP=256
#include "formulas/weighted_sums.h"
#include "shared/kernel_language.h"

// A work-item computes sum i of one line: added[i] plus the sum over k of weights[k n_output + i]
// times sample (first[i] + k) modulo n_input. Neighbouring work-items share their loads through the
// cache, or load neighbouring numbers.
WA_KERNEL(GROUP, 1)
weighted_sums(WA_GLOBAL const float* input, int outer, int n_input, int n_output, int inner,
              WA_GLOBAL const int* first, WA_GLOBAL const float* weights, int taps,
              WA_GLOBAL const float* added, WA_GLOBAL float* output) {
  WA_BEGIN();
  const WA_UINT64 number = (WA_UINT64)WA_GROUP_X * GROUP + WA_ITEM_X;
  const WA_UINT64 line = number / (WA_UINT64)inner;
  const WA_UINT64 array = line / (WA_UINT64)n_output;
  if (array >= (WA_UINT64)outer) return;
  const int i = (int)(line - array * (WA_UINT64)n_output);
  const WA_UINT64 stride = (WA_UINT64)inner;
  WA_GLOBAL const float* samples =
      input + array * (WA_UINT64)n_input * stride + (number - line * stride);
  const int start = first[i];
  const int before_end = n_input - start < taps ? n_input - start : taps;
  WA_GLOBAL const float* from = samples + (WA_UINT64)start * stride;
  float sum = added[i];
  int k = 0;
  for (; k < before_end; ++k) {
    sum = WA_FMA(weights[(WA_UINT64)k * (WA_UINT64)n_output + i], from[(WA_UINT64)k * stride], sum);
  }
  for (; k < taps; ++k) {
    sum = WA_FMA(weights[(WA_UINT64)k * (WA_UINT64)n_output + i],
                 samples[(WA_UINT64)(k - before_end) * stride], sum);
  }
  output[number] = sum;
}

// A work-item computes WA_SUMS_AT_ONCE neighbouring sums of a column, which share most samples
// where an image shrinks: it loads each of these once. Sums that share few are added up on their
// own. Each sum has its terms in the same order as above.
WA_KERNEL(GROUP, 1)
weighted_column_sums(WA_GLOBAL const float* input, int outer, int n_input, int n_output, int inner,
                     WA_GLOBAL const int* first, WA_GLOBAL const float* weights, int taps,
                     WA_GLOBAL const float* added, WA_GLOBAL float* output) {
  WA_BEGIN();
  const int blocks = (n_output + WA_SUMS_AT_ONCE - 1) / WA_SUMS_AT_ONCE;
  const WA_UINT64 number = (WA_UINT64)WA_GROUP_X * GROUP + WA_ITEM_X;
  const WA_UINT64 stride = (WA_UINT64)inner;
  const WA_UINT64 line = number / stride;
  const WA_UINT64 array = line / (WA_UINT64)blocks;
  if (array >= (WA_UINT64)outer) return;
  const int i = (int)(line - array * (WA_UINT64)blocks) * WA_SUMS_AT_ONCE;
  const WA_UINT64 column = number - line * stride;
  WA_GLOBAL const float* samples = input + array * (WA_UINT64)n_input * stride + column;
  const int start = first[i];
  float sums[WA_SUMS_AT_ONCE];
  int offset[WA_SUMS_AT_ONCE];
  int reach = taps;
  WA_UNROLL
  for (int r = 0; r < WA_SUMS_AT_ONCE; ++r) {
    const int sum = i + r < n_output ? i + r : n_output - 1;
    sums[r] = added[sum];
    const int behind = first[sum] - start;
    offset[r] = behind < 0 ? behind + n_input : behind;
    reach = offset[r] + taps > reach ? offset[r] + taps : reach;
  }
  if (reach <= 3 * taps && reach <= n_input) {
    int at = start;
    for (int k = 0; k < reach; ++k) {
      const float sample = samples[(WA_UINT64)at * stride];
      at = at + 1 < n_input ? at + 1 : 0;
      WA_UNROLL
      for (int r = 0; r < WA_SUMS_AT_ONCE; ++r) {
        const int tap = k - offset[r];
        if (tap >= 0 && tap < taps && i + r < n_output) {
          sums[r] = WA_FMA(weights[(WA_UINT64)tap * (WA_UINT64)n_output + (WA_UINT64)(i + r)],
                           sample, sums[r]);
        }
      }
    }
  } else {
    WA_UNROLL
    for (int r = 0; r < WA_SUMS_AT_ONCE; ++r) {
      if (i + r >= n_output) break;
      int at = first[i + r];
      for (int tap = 0; tap < taps; ++tap) {
        sums[r] = WA_FMA(weights[(WA_UINT64)tap * (WA_UINT64)n_output + (WA_UINT64)(i + r)],
                         samples[(WA_UINT64)at * stride], sums[r]);
        at = at + 1 < n_input ? at + 1 : 0;
      }
    }
  }
  WA_GLOBAL float* to = output + (array * (WA_UINT64)n_output + (WA_UINT64)i) * stride + column;
  WA_UNROLL
  for (int r = 0; r < WA_SUMS_AT_ONCE; ++r) {
    if (i + r < n_output) to[(WA_UINT64)r * stride] = sums[r];
  }
}
