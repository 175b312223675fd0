// Gaussian smoothing, sampled on a separate output grid, for CPUs: like smooth.cl, but columns come
// first (lib/separable_simd.h).
//
// Options: PIXEL_U8, PIXEL_U16 or PIXEL_F32, the type of the input; MASKED, if there is a mask: the
// sums of weights are then stored after the sums of pixels.
//
// variant: cpu -DPIXEL_U8
// variant: cpu -DPIXEL_F32 -DMASKED
#include "lib/pixels.h"
#include "lib/separable_simd.h"

WA_INLINE float16 load_pixels(global const Pixel* from, int count) {
  if (count >= 16) return LOAD_16_PIXELS(from);
  float16 values = 0.0f;
#pragma unroll 1
  for (int i = 0; i < count; ++i) ((float*)&values)[i] = LOAD_PIXEL(from, i);
  return values;
}

#ifdef MASKED
// 1 for pixels inside the mask, otherwise 0.
WA_INLINE float16 load_mask(global const uchar* from, int count) {
  int16 counts = 0;
  if (count >= 16) {
    counts = convert_int16(vload16(0, from)) != 0;
  } else {
#pragma unroll 1
    for (int i = 0; i < count; ++i) ((int*)&counts)[i] = from[i] != 0 ? -1 : 0;
  }
  return only(1.0f, counts);
}
#endif

// Each work-item processes a column block of a block of sixteen output rows.
SIMD_KERNEL smooth_columns(
    global const Pixel* input,
#ifdef MASKED
    global const uchar* mask,
#endif
    int width, global const int* first, global const float* weights, int taps, int rows,
    global float* between) {
  const int block = (int)get_global_id(1);
  const int start = (int)get_global_id(0) * COLUMN_BLOCK;
#pragma unroll 1
  for (int x = start; x < min(start + COLUMN_BLOCK, width); x += 16) {
    const int count = width - x;
    float16 sums[16];
#ifdef MASKED
    float16 counted[16];
#endif
#pragma unroll 1
    for (int i = 0; i < 16; ++i) {
      const int y = min(block * 16 + i, rows - 1);
      size_t at = (size_t)first[y] * (size_t)width + (size_t)x;
      float16 sum = 0.0f;
#ifdef MASKED
      float16 counts = 0.0f;
#endif
      for (int k = 0; k < taps; ++k) {
        const float16 weight = weights[k * rows + y];
        const float16 pixels = load_pixels(input + at, count);
#ifdef MASKED
        const float16 here = load_mask(mask + at, count);
        sum = fma(weight, only(pixels, here > 0.0f), sum);
        counts = fma(weight, here, counts);
#else
        sum = fma(weight, pixels, sum);
#endif
        at += (size_t)width;
      }
      sums[i] = sum;
#ifdef MASKED
      counted[i] = counts;
#endif
    }
    store_block(sums, block, width, x, between);
#ifdef MASKED
    store_block(counted, block + (int)get_global_size(1), width, x, between);
#endif
  }
}

// Each work-item processes a column block of a block of sixteen output rows.
SIMD_KERNEL smooth_rows(
    global const float* between, int width, global const int* first, global const float* weights,
    int taps, int columns, int rows,
#ifdef MASKED
    global float* output, global float* weight_of_output) {
#else
    global float* output) {
#endif
  const int block = (int)get_global_id(1);
  const int start = (int)get_global_id(0) * COLUMN_BLOCK;
#pragma unroll 1
  for (int x = start; x < min(start + COLUMN_BLOCK, columns); x += 16) {
    float16 sums[16];
    sum_rows(between, block, width, first, weights, taps, columns, x, sums);
#ifdef MASKED
    float16 counted[16];
    sum_rows(between, block + (int)get_global_size(1), width, first, weights, taps, columns, x,
             counted);
#endif
    for (int i = 0; i < min(16, rows - block * 16); ++i) {
      const size_t at = (size_t)(block * 16 + i) * (size_t)columns + (size_t)x;
#ifdef MASKED
      store_some(only(sums[i] / counted[i], counted[i] > 0.0f), columns - x, output + at);
      store_some(counted[i], columns - x, weight_of_output + at);
#else
      store_some(sums[i], columns - x, output + at);
#endif
    }
  }
}
