// Weighted sums down the columns and along the rows of an image, for OpenCL kernels on CPUs only.
//
// Output i of an axis is the sum over k of weights[k n + i] times input first[i] + k. Columns come
// first. The intermediate result is stored in blocks of sixteen rows, with sixteen consecutive
// numbers for each column, so that sixteen rows can be summed at a time, at any position.
#ifndef WARPALIGN_LIB_SEPARABLE_SIMD_H
#define WARPALIGN_LIB_SEPARABLE_SIMD_H

#include "lib/launch.h"
#include "lib/simd.h"

#define COLUMN_BLOCK WA_SEPARABLE_COLUMNS

// The offset of column x of a block.
WA_INLINE size_t block_column(int block, int width, int x) {
  return ((size_t)block * (size_t)width + (size_t)x) * 16;
}

// Stores sixteen rows of up to sixteen columns, from column x on, in a block.
WA_INLINE void store_block(float16* rows, int block, int width, int x, global float* between) {
  transpose(rows);
  for (int i = 0; i < min(16, width - x); ++i) {
    vstore16(rows[i], 0, between + block_column(block, width, x + i));
  }
}

// Computes outputs x to x + 15, of n, of a block's sixteen rows.
WA_INLINE void sum_rows(global const float* between, int block, int width, global const int* first,
                        global const float* weights, int taps, int n, int x, float16* rows) {
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    const int output = min(x + i, n - 1);
    global const float* from = between + block_column(block, width, first[output]);
    float16 sum = 0.0f;
    for (int k = 0; k < taps; ++k) {
      sum = fma((float16)(weights[k * n + output]), vload16(k, from), sum);
    }
    rows[i] = sum;
  }
  transpose(rows);
}

#endif
