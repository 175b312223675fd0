// Weighted sums of neighbouring samples along the second of three axes.
//
// Options: GROUP, the size of the work-group.
//
// variant: gpu -DGROUP=256
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
