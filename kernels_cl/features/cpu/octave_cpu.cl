// Gaussian smoothing of planes of several sizes, for CPUs: like octave.cl, but sixteen neighbouring
// pixels at once.
//
// variant: cpu
#include "formulas/features.h"
#include "lib/simd.h"

// Sixteen pixels of a row, `step` apart, from pixel x on. Pixels beyond its ends repeat the end
// pixels.
WA_INLINE float16 pixels_from(global const float* row, int width, int x, int step) {
  if (step == 1 && x >= 0 && x + 16 <= width) return vload16(0, row + x);
  return gather(row, clamp(x + step * NUMBERS, 0, width - 1));
}

// Smooths sixteen pixels of a row, from pixel x on. Returns the position after them.
WA_INLINE int smooth_sixteen(global const float* row, int width, int x, int step,
                             global const float* weight, int radius, int columns,
                             global float* target) {
  float16 sum = 0.0f;
  for (int i = -radius; i <= radius; ++i) {
    sum = fma((float16)(weight[i]), pixels_from(row, width, x * step + i, step), sum);
  }
  store_some(sum, columns - x, target + x);
  return x + 16;
}

// Each work-item processes a row of a plane: work-item (y, p) row y of plane p.
SIMD_KERNEL octave_rows(
    global const float* source, int first_of_source, global const int* source_planes,
    global const int* planes, int step, global const float* weights, int first_weight, int radius,
    global float* between) {
  const int y = (int)get_global_id(0);
  const int number = (int)get_global_id(1);
  global const int* from = source_planes + number * WA_PLANE_WORDS;
  const int columns = planes[number * WA_PLANE_WORDS + 1];
  if (y >= from[2]) return;
  global const float* row = source + first_of_source + from[0] + y * from[1];
  global const float* weight = weights + first_weight + radius;
  global float* target = between + from[0] + y * columns;
  int x = 0;
  // Four sums at once, so that an addition need not wait for the result of the previous one.
  while (step == 1 && x + 64 + radius <= columns) {
    if (x < radius) {
      x = smooth_sixteen(row, from[1], x, step, weight, radius, columns, target);
      continue;
    }
    float16 a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (int i = -radius; i <= radius; ++i) {
      const float16 factor = weight[i];
      a = fma(factor, vload16(0, row + x + i), a);
      b = fma(factor, vload16(1, row + x + i), b);
      c = fma(factor, vload16(2, row + x + i), c);
      d = fma(factor, vload16(3, row + x + i), d);
    }
    vstore16(a, 0, target + x);
    vstore16(b, 1, target + x);
    vstore16(c, 2, target + x);
    vstore16(d, 3, target + x);
    x += 64;
  }
  while (x < columns) x = smooth_sixteen(row, from[1], x, step, weight, radius, columns, target);
}

// Each work-item processes a row of a plane: work-item (y, p) row y of plane p.
SIMD_KERNEL octave_columns(
    global const float* between, global const int* source_planes, global const int* planes,
    int step, global const float* weights, int first_weight, int radius, global float* octave,
    int first_of_image) {
  const int y = (int)get_global_id(0);
  const int number = (int)get_global_id(1);
  global const int* from = source_planes + number * WA_PLANE_WORDS;
  global const int* to = planes + number * WA_PLANE_WORDS;
  const int columns = to[1];
  if (y >= to[2]) return;
  global const float* weight = weights + first_weight + radius;
  global float* target = octave + first_of_image + to[0] + y * columns;
  int x = 0;
  for (; x + 64 <= columns; x += 64) {
    float16 a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (int i = -radius; i <= radius; ++i) {
      global const float* row =
          between + from[0] + clamp(y * step + i, 0, from[2] - 1) * columns + x;
      const float16 factor = weight[i];
      a = fma(factor, vload16(0, row), a);
      b = fma(factor, vload16(1, row), b);
      c = fma(factor, vload16(2, row), c);
      d = fma(factor, vload16(3, row), d);
    }
    vstore16(a, 0, target + x);
    vstore16(b, 1, target + x);
    vstore16(c, 2, target + x);
    vstore16(d, 3, target + x);
  }
  for (; x < columns; x += 16) {
    float16 sum = 0.0f;
    for (int i = -radius; i <= radius; ++i) {
      global const float* row =
          between + from[0] + clamp(y * step + i, 0, from[2] - 1) * columns;
      sum = fma((float16)(weight[i]), load_some(row + x, columns - x), sum);
    }
    store_some(sum, columns - x, target + x);
  }
}
