// The number of overlapping pixels of two images at every shift, for CPUs: like
// shared/overlap_counts.cl, with sixteen columns at a time.
//
// variant: cpu
#include "formulas/overlap.h"
#include "lib/launch.h"
#include "lib/simd.h"

// The weights of up to sixteen pixels, in units of WA_OVERLAP_UNIT.
WA_INLINE uint16 units_of(global const float* weights, int count) {
  return convert_uint16(fma(load_some(weights, count), WA_OVERLAP_UNIT, (float16)(0.5f)));
}

WA_INLINE void store_sums(uint16 values, int count, global uint* to) {
  store_some(as_float16(values), count, (global float*)to);
}

// Writes to each pixel the sum over `rows` pixels from it on, down its column, periodically.
// Work-item (i, j) processes 16 x WA_OVERLAP_VECTORS columns of image j, row by row, in memory
// order.
SIMD_KERNEL overlap_columns(
    global const float* weights, int width, int height, int rows, global uint* sums) {
  const int x = 16 * WA_OVERLAP_VECTORS * (int)get_global_id(0);
  const int count = min(16 * WA_OVERLAP_VECTORS, width - x);
  const size_t before = get_global_id(1) * (size_t)(width * height) + (size_t)x;
  weights += before;
  sums += before;
  uint16 sum[WA_OVERLAP_VECTORS];
  for (int i = 0; i < WA_OVERLAP_VECTORS; ++i) sum[i] = 0;
#pragma unroll 1
  for (int y = 0; y < rows; ++y) {
    global const float* row = weights + y * width;
#pragma unroll 1
    for (int i = 0; 16 * i < count; ++i) sum[i] += units_of(row + 16 * i, count - 16 * i);
  }
#pragma unroll 1
  for (int y = 0; y < height; ++y) {
    global const float* first = weights + y * width;
    global const float* next = weights + (y + rows < height ? y + rows : y + rows - height) * width;
    global uint* to = sums + y * width;
#pragma unroll 1
    for (int i = 0; 16 * i < count; ++i) {
      const int here = count - 16 * i;
      store_sums(sum[i], here, to + 16 * i);
      sum[i] += units_of(next + 16 * i, here) - units_of(first + 16 * i, here);
    }
  }
}

// The prefix sums of a vector, each including its own number.
WA_INLINE uint16 running(uint16 v) {
  v += (uint16)(0, v.s0123, v.s456789ab, v.scde);
  v += (uint16)(0, 0, v.s0123, v.s456789ab, v.scd);
  v += (uint16)(0, 0, 0, 0, v.s0123, v.s456789ab);
  v += (uint16)((uint8)(0), v.lo);
  return v;
}

// The sum of all numbers before each number of a periodic row, over two periods and one vector.
WA_INLINE void sum_up(global const uint* row, int width, local uint* before) {
  uint sum = 0;
  int x = 0;
  for (; x + 16 <= width; x += 16) {
    const uint16 numbers = vload16(0, row + x);
    const uint16 sums = running(numbers) + sum;
    vstore16(sums - numbers, 0, before + x);
    sum = sums.sf;
  }
  for (; x < width; ++x) {
    before[x] = sum;
    sum += row[x];
  }
  if (width < 16) {
    for (x = 0; x < width + 16; ++x) before[width + x] = before[x] + sum;
    return;
  }
  for (x = 0; x <= width; x += 16) vstore16(vload16(0, before + x) + sum, 0, before + width + x);
}

// The sums over the rectangles at x and at the next fifteen positions.
WA_INLINE float16 rectangles(local const uint* before, int x, int columns, float unit) {
  return convert_float16(vload16(0, before + x + columns) - vload16(0, before + x)) * unit;
}

// Writes the sums over rectangles; `sums` has those over their columns: see
// shared/overlap_counts.cl. `before` has room for 2 width + 32 numbers. Work-item (i, j) processes
// sixteen rows of image j.
SIMD_KERNEL overlap_rows(
    global const uint* sums, int width, int height, int columns, int rows, int is_first,
    float scale, local uint* before, global float* overlaps) {
  const int first = 16 * (int)get_global_id(0);
  const float unit = scale * (1.0f / WA_OVERLAP_UNIT);
  const size_t plane = (size_t)(width * height);
  sums += get_global_id(1) * plane;
  overlaps += get_global_id(1) * 2 * plane;
#pragma unroll 1
  for (int y = first; y < min(first + 16, height); ++y) {
    sum_up(sums + y * width, width, before);
    const int straight_y = is_first == 0 || y == 0 ? y : height - y;
    const int mirrored_y = y + rows - 1 < height ? y + rows - 1 : y + rows - 1 - height;
    global float* straight = overlaps + straight_y * width;
    global float* mirrored = overlaps + plane + mirrored_y * width;
#pragma unroll 1
    for (int x = 0; x < width; x += 16) {
      const int count = width - x;
      float16 values;
      if (is_first == 0) {
        values = rectangles(before, x, columns, unit);
      } else {
        const int last = width - x - 15;
        values = rectangles(before, last < 0 ? last + width : last, columns, unit)
                     .sfedcba9876543210;
      }
      store_some(values, count, straight + x);
      const int from = x - columns + 1;
      store_some(rectangles(before, from < 0 ? from + width : from, columns, unit), count,
                 mirrored + x);
    }
  }
}
