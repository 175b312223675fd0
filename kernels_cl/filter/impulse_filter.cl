// The impulse noise filter: detects impulses and replaces them by means of their neighbours.
//
// Options: PIXEL_U8, PIXEL_U16 or PIXEL_F32, the type of the input; GROUP, the size of the
// work-groups that process one row each, a power of two.
//
// variant: gpu -DPIXEL_U8 -DGROUP=256
// variant: gpu -DPIXEL_F32 -DGROUP=256
#include "formulas/impulse.h"

#if defined(PIXEL_U8)
typedef uchar Pixel;
#elif defined(PIXEL_U16)
typedef ushort Pixel;
#else
typedef float Pixel;
#endif

// Counts the neighbours of (x, y) in the image that have the same value, which is an end of the
// range.
inline int equal_neighbours(global const Pixel* input, int width, int height, int x, int y,
                            float value) {
  int same = 0;
  for (int j = max(y - 1, 0); j <= min(y + 1, height - 1); ++j) {
    for (int i = max(x - 1, 0); i <= min(x + 1, width - 1); ++i) {
      same += (float)input[(size_t)j * (size_t)width + (size_t)i] == value ? 1 : 0;
    }
  }
  return same - 1;
}

// rows: (minimum, maximum) of every step-th row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void row_extremes(
    global const Pixel* input, int width, int step, global float2* rows) {
  local float2 shared[GROUP];
  const int item = (int)get_local_id(0);
  const size_t start = get_group_id(0) * (size_t)step * (size_t)width;
  float2 mine = (float2)(INFINITY, -INFINITY);
  for (int x = item; x < width; x += GROUP) {
    const float value = (float)input[start + (size_t)x];
    mine = (float2)(fmin(mine.x, value), fmax(mine.y, value));
  }
  shared[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    if (item < half_group) {
      const float2 other = shared[item + half_group];
      shared[item] = (float2)(fmin(shared[item].x, other.x), fmax(shared[item].y, other.y));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) rows[get_group_id(0)] = shared[0];
}

// rows: for every step-th row, the number of pixels at an end of the range that have no neighbour
// of the same value.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void row_isolated(
    global const Pixel* input, int width, int height, int step, float lowest, float highest,
    global float* rows) {
  local float shared[GROUP];
  const int item = (int)get_local_id(0);
  const int y = (int)get_group_id(0) * step;
  float mine = 0.0f;
  for (int x = item; x < width; x += GROUP) {
    const float value = (float)input[(size_t)y * (size_t)width + (size_t)x];
    if (!wa_is_extreme(value, lowest, highest)) continue;
    mine += equal_neighbours(input, width, height, x, y, value) == 0 ? 1.0f : 0.0f;
  }
  shared[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    if (item < half_group) shared[item] += shared[item + half_group];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) rows[get_group_id(0)] = shared[0];
}

kernel void impulse_filter(global const Pixel* input, int width, int height, float lowest,
                           float highest, global float* output) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  const size_t at = (size_t)y * (size_t)width + (size_t)x;
  const float value = (float)input[at];
  float result = value;
  if (wa_is_extreme(value, lowest, highest) &&
      equal_neighbours(input, width, height, x, y, value) <= WA_IMPULSE_MAX_EQUAL) {
    float weight = 0.0f;
    for (int reach = 1; reach <= 2 && weight == 0.0f; ++reach) {
      float sum = 0.0f;
      for (int j = max(y - reach, 0); j <= min(y + reach, height - 1); ++j) {
        for (int i = max(x - reach, 0); i <= min(x + reach, width - 1); ++i) {
          const float neighbour = (float)input[(size_t)j * (size_t)width + (size_t)i];
          if (wa_is_extreme(neighbour, lowest, highest)) continue;
          const float w = wa_fill_weight(i - x, j - y);
          sum = fma(w, neighbour, sum);
          weight += w;
        }
      }
      if (weight > 0.0f) result = sum / weight;
    }
  }
  output[at] = result;
}
