// Local normalization of brightness and contrast for CPUs: like local_normalization.cl, but columns
// come first (lib/separable_simd.h).
//
// Options: as there.
//
// variant: cpu
// variant: cpu -DMASKED
// variant: cpu -DBY_IMAGE
#define WA_REAL float16
#include "formulas/local_normalization.h"
#include "lib/local_levels.h"
#include "lib/separable_simd.h"

#ifdef MASKED
#define PLANES 3  // sums of values, of squares, of weights
#else
#define PLANES 2  // weights sum to 1
#endif

// Each work-item processes a column block of a block of sixteen rows.
SIMD_KERNEL local_moments(
    global const float* input,
#ifdef MASKED
    global const float* counts,
#endif
    int width, int height, LEVELS, global const int* first, global const float* weights, int taps,
    global float* between) {
  const int block = (int)get_global_id(1);
  const int start = (int)get_global_id(0) * COLUMN_BLOCK;
#pragma unroll 1
  for (int x = start; x < min(start + COLUMN_BLOCK, width); x += 16) {
    const int count = width - x;
    float16 sums[PLANES][16];
#pragma unroll 1
    for (int i = 0; i < 16; ++i) {
      const int y = min(block * 16 + i, height - 1);
      const float mean_here = MEAN_OF(y);
      size_t at = (size_t)first[y] * (size_t)width + (size_t)x;
      float16 sum[PLANES];
      for (int p = 0; p < PLANES; ++p) sum[p] = 0.0f;
      for (int k = 0; k < taps; ++k) {
        float16 weight = weights[k * height + y];
#ifdef MASKED
        weight *= load_some(counts + at, count);
        sum[PLANES - 1] += weight;
#endif
        const float16 value = load_some(input + at, count) - mean_here;
        sum[0] = fma(weight, value, sum[0]);
        sum[1] = fma(weight, value * value, sum[1]);
        at += (size_t)width;
      }
      for (int p = 0; p < PLANES; ++p) sums[p][i] = sum[p];
    }
#pragma unroll 1
    for (int p = 0; p < PLANES; ++p) {
      store_block(sums[p], block + p * (int)get_global_size(1), width, x, between);
    }
  }
}

// A column block of sixteen rows.
SIMD_KERNEL normalize_locally(
    global const float* input,
#ifdef MASKED
    global const float* counts,
#endif
    int width, int height, LEVELS, global const int* first, global const float* weights, int taps,
    global const float* between, global float* output) {
  const int block = (int)get_global_id(1);
  const int start = (int)get_global_id(0) * COLUMN_BLOCK;
#pragma unroll 1
  for (int x = start; x < min(start + COLUMN_BLOCK, width); x += 16) {
    const int count = width - x;
    float16 sums[PLANES][16];
#pragma unroll 1
    for (int p = 0; p < PLANES; ++p) {
      sum_rows(between, block + p * (int)get_global_size(1), width, first, weights, taps, width, x,
               sums[p]);
    }
#pragma unroll 1
    for (int i = 0; i < min(16, height - block * 16); ++i) {
      const int y = block * 16 + i;
      const size_t at = (size_t)y * (size_t)width + (size_t)x;
      const float16 value = load_some(input + at, count) - MEAN_OF(y);
#ifdef MASKED
      const float16 even =
          only(wa_normalize(value, sums[PLANES - 1][i], sums[0][i], sums[1][i],
                            FLOOR_SQUARE_OF(y)),
               load_some(counts + at, count) >= 0.5f);
#else
      const float16 even =
          wa_normalize(value, (float16)(1.0f), sums[0][i], sums[1][i], FLOOR_SQUARE_OF(y));
#endif
      store_some(even, count, output + at);
    }
  }
}
