// The sums of a Gauss-Newton step for the similarity of each of many frames, for CPUs: like
// shared/frame_sums.cl, but a work-item goes down sixteen neighbouring columns at a time.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/frame_sums.h"
#include "lib/sample_location_simd.h"
#include "lib/simd.h"

// Sixteen columns of a row of the frame, smoothed like the reference, and their slopes.
typedef struct {
  float16 value, slope;
} FrameRow;

WA_INLINE FrameRow frame_row(global const float* p, int count) {
  const float16 before = load_some(p - 1, count);
  const float16 after = load_some(p + 1, count);
  FrameRow row;
  row.value = fma((float16)(2.0f / 3.0f), load_some(p, count), (1.0f / 6.0f) * (before + after));
  row.slope = 0.5f * (after - before);
  return row;
}

SIMD_KERNEL frame_sums(
    global const float* frames, global const float* reference, int width, int height, int cells,
    int references, global const int* states, global float* partials) {
  const int number = (int)get_global_id(0);
  global const int* state = states + (size_t)number * WA_FRAME_STATE_WORDS;
  const int first_column = state[0];
  const int first_row = state[2];
  const int end_row = state[19] == 0 ? first_row : state[3];
  const float a = as_float(state[8]);
  const float b = as_float(state[9]);
  const float d = as_float(state[10]);
  const float e = as_float(state[11]);
  const float shrink = 1.0f / fma(a, a, d * d);
  const float16 gain = as_float(state[16]);
  const float16 offset = as_float(state[17]);
  const float inverse_scale = as_float(state[18]);
  const size_t plane = (size_t)width * (size_t)height;
  const Moving known =
      moving_of(reference + (size_t)(number / cells % references) * plane, width, height, 1);
  global const float* frame = frames + (size_t)(number / cells) * plane;

  float16 sums[WA_FRAME_SUMS];
#pragma unroll
  for (int i = 0; i < WA_FRAME_SUMS; ++i) sums[i] = 0.0f;
#pragma unroll 1
  for (int column = first_column; column < state[1] && first_row < end_row; column += 16) {
    const int count = state[1] - column;
    const int16 wanted = NUMBERS < count;
    const float16 across = convert_float16(NUMBERS + (column - first_column));
    global const float* m = frame + (size_t)(first_row - 1) * (size_t)width + (size_t)column;
    FrameRow m0 = frame_row(m, count);
    FrameRow m1 = frame_row(m + width, count);
    m += 2 * (size_t)width;
#pragma unroll 1
    for (int row = first_row; row < end_row; ++row) {
      const FrameRow m2 = frame_row(m, count);
      m += width;
      const float down = (float)(row - first_row);
      const float16 step_x = fma((float16)(a), across, b * down);
      const float16 step_y = fma((float16)(d), across, e * down);
      const float16 x = as_float(state[6]) + step_x;
      const float16 y = as_float(state[7]) + step_y;
      const float16 below_x = floor(x);
      const float16 below_y = floor(y);
      Locations locations;
      locations.x0 = state[4] + convert_int16(below_x);
      locations.y0 = state[5] + convert_int16(below_y);
      locations.a = x - below_x;
      locations.b = y - below_y;
      const int16 within = wanted & are_within(&known, &locations);
      const Splines splines = splines_at(&known, &locations, within, true);
      const float16 value =
          fma((float16)(2.0f / 3.0f), m1.value, (1.0f / 6.0f) * (m0.value + m2.value)) -
          as_float(state[14]);
      const float16 mx =
          fma((float16)(2.0f / 3.0f), m1.slope, (1.0f / 6.0f) * (m0.slope + m2.slope));
      const float16 my = 0.5f * (m2.value - m0.value);
      const float16 r = splines.value - as_float(state[15]);
      const float16 residual = value - fma(gain, r, offset);
      // NaN if any pixel in the support is not finite.
      const float16 test = residual + (splines.slope_x + splines.slope_y) + (mx + my);
      const int16 counts = within & (test - test == 0.0f);
      const float16 left = only(residual, counts);
      const float16 one = only((float16)(1.0f), counts);
      const float16 dx = as_float(state[12]) + step_x;
      const float16 dy = as_float(state[13]) + step_y;
      const float16 turned_x = only(fma((float16)(a), mx, b * my) * shrink, counts);
      const float16 turned_y = only(fma((float16)(d), mx, e * my) * shrink, counts);
      float16 z[4], slopes[4];
      wa_similarity_slopes(turned_x, turned_y, dx, dy, z);
      wa_similarity_slopes(only(splines.slope_x, counts), only(splines.slope_y, counts), dx, dy,
                           slopes);
      wa_frame_add(only(value, counts), only(fma(mx, mx, my * my), counts), z, only(r, counts),
                   slopes, left, wa_tukey_weight(left, inverse_scale) * one, one, sums);
      m0 = m1;
      m1 = m2;
    }
  }
#pragma unroll
  for (int i = 0; i < WA_FRAME_SUMS; ++i) {
    partials[(size_t)number * WA_FRAME_SUMS + (size_t)i] = sum_of_lanes(sums[i]);
  }
}
