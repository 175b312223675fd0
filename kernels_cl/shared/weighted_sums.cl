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
  WA_UINT64 line = number;
  WA_UINT64 array;
  if (number <= 0xFFFFFFFFu) {  // divisions of 64 bits take long on GPUs
    if (inner > 1) line = (unsigned int)number / (unsigned int)inner;
    array = (unsigned int)line / (unsigned int)n_output;
  } else {
    line = number / (WA_UINT64)inner;
    array = line / (WA_UINT64)n_output;
  }
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

// For at least WA_SUMS_COLUMN neighbouring numbers: a group computes WA_SUMS_AT_ONCE sums of as
// many columns as it has work-items. Where an image shrinks, these share most samples, which the
// cache keeps. Each sum has its terms in the same order as above.
WA_KERNEL(GROUP, 1)
weighted_column_sums(WA_GLOBAL const float* input, int n_input, int n_output, int inner,
                     WA_GLOBAL const int* first, WA_GLOBAL const float* weights, int taps,
                     WA_GLOBAL const float* added, WA_GLOBAL float* output) {
  WA_BEGIN();
  const int across = (inner + GROUP - 1) / GROUP;
  const int blocks = (n_output + WA_SUMS_AT_ONCE - 1) / WA_SUMS_AT_ONCE;
  const int row = WA_GROUP_X / across;
  const int array = row / blocks;
  const int begin = (row - array * blocks) * WA_SUMS_AT_ONCE;
  const int column = (WA_GROUP_X - row * across) * GROUP + WA_ITEM_X;
  if (column >= inner) return;
  const WA_UINT64 stride = (WA_UINT64)inner;
  WA_GLOBAL const float* samples =
      input + (WA_UINT64)array * (WA_UINT64)n_input * stride + (WA_UINT64)column;
  WA_GLOBAL float* to =
      output + (WA_UINT64)array * (WA_UINT64)n_output * stride + (WA_UINT64)column;
  const int end = begin + WA_SUMS_AT_ONCE < n_output ? begin + WA_SUMS_AT_ONCE : n_output;
  for (int i = begin; i < end; ++i) {
    const int start = first[i];
    const int before_end = n_input - start < taps ? n_input - start : taps;
    WA_GLOBAL const float* from = samples + (WA_UINT64)start * stride;
    WA_GLOBAL const float* weight = weights + i;
    float sum = added[i];
    int k = 0;
    for (; k < before_end; ++k, from += stride, weight += n_output) {
      sum = WA_FMA(*weight, *from, sum);
    }
    for (from = samples; k < taps; ++k, from += stride, weight += n_output) {
      sum = WA_FMA(*weight, *from, sum);
    }
    to[(WA_UINT64)i * stride] = sum;
  }
}
