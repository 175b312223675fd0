// The sums of a Gauss-Newton step for the shift of each of many windows, for CPUs: like
// shared/shift_sums.cl, but a work-item goes down sixteen neighbouring columns at a time.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/shift_sums.h"
#include "lib/simd.h"

// Rows lie too far apart for processors to foresee the next one.
#define ROWS_AHEAD 8

// The words of warpalign::ShiftState.
#define STATE_WORDS 14

// Sixteen columns of a row of the frame, smoothed like the reference at its samples, and their
// slopes.
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

// Sixteen columns of a row of the reference: the spline along the row, and its slope.
typedef struct {
  float16 value, slope;
} ReferenceRow;

WA_INLINE ReferenceRow reference_row(global const float* p, int count, const float* w,
                                     const float* d) {
  const float16 p0 = load_some(p, count);
  const float16 p1 = load_some(p + 1, count);
  const float16 p2 = load_some(p + 2, count);
  const float16 p3 = load_some(p + 3, count);
  ReferenceRow row;
  row.value =
      fma((float16)(w[3]), p3, fma((float16)(w[2]), p2, fma((float16)(w[1]), p1, w[0] * p0)));
  row.slope =
      fma((float16)(d[3]), p3, fma((float16)(d[2]), p2, fma((float16)(d[1]), p1, d[0] * p0)));
  return row;
}

WA_INLINE float16 down(const ReferenceRow* rows, const float* w) {
  return fma((float16)(w[3]), rows[3].value,
             fma((float16)(w[2]), rows[2].value,
                 fma((float16)(w[1]), rows[1].value, w[0] * rows[0].value)));
}

WA_INLINE float16 slope_down(const ReferenceRow* rows, const float* w) {
  return fma((float16)(w[3]), rows[3].slope,
             fma((float16)(w[2]), rows[2].slope,
                 fma((float16)(w[1]), rows[1].slope, w[0] * rows[0].slope)));
}

// `parts` work-items share a window; `together` windows of a frame share a mean. The sums of an
// inactive window stay unchanged.
SIMD_KERNEL shift_sums(
    global const float* frames, global const float* reference, int frame_width, int frame_height,
    int windows, global const float* frame_means, global const float* reference_means,
    int together, global const int* states, int parts, global float* partials) {
  const int number = (int)get_global_id(0) / parts;
  const int part = (int)get_global_id(0) - number * parts;
  global const int* state = states + number * STATE_WORDS;
  if (state[13] == 0) return;
  const int frame = number / windows;
  const float frame_mean = frame_means[number / together];
  const float reference_mean = reference_means[(number - frame * windows) / together];
  const float16 gain = as_float(state[10]);
  const float16 offset = as_float(state[11]);
  const float inverse_scale = as_float(state[12]);
  float wx[4], wy[4], dx[4], dy[4];
  float16 weights[4];
  wa_bspline_weights_3((float16)(as_float(state[8])), weights);
  for (int i = 0; i < 4; ++i) wx[i] = weights[i].s0;
  wa_bspline_weights_3((float16)(as_float(state[9])), weights);
  for (int i = 0; i < 4; ++i) wy[i] = weights[i].s0;
  wa_cubic_slopes(as_float(state[8]), dx);
  wa_cubic_slopes(as_float(state[9]), dy);
  const int rows = state[7] - state[6];
  const int first_row = state[6] + rows * part / parts;
  const int end_row = state[6] + rows * (part + 1) / parts;

  float16 sums[WA_SHIFT_SUMS];
#pragma unroll
  for (int i = 0; i < WA_SHIFT_SUMS; ++i) sums[i] = 0.0f;
#pragma unroll 1
  for (int column = state[4]; column < state[5] && first_row < end_row; column += 16) {
    const int count = state[5] - column;
    const int16 wanted = NUMBERS < count;
    global const float* m = frames + (size_t)frame * (size_t)frame_width * (size_t)frame_height +
                            (size_t)(state[1] + first_row - 1) * (size_t)frame_width +
                            (size_t)(state[0] + column);
    global const float* r = reference + (size_t)(state[3] + first_row - 1) * (size_t)frame_width +
                            (size_t)(state[2] + column - 1);
    FrameRow m0 = frame_row(m, count);
    FrameRow m1 = frame_row(m + frame_width, count);
    ReferenceRow around[4];
    for (int i = 0; i < 3; ++i) {
      around[i] = reference_row(r + (size_t)i * (size_t)frame_width, count, wx, dx);
    }
    m += 2 * (size_t)frame_width;
    r += 3 * (size_t)frame_width;
#pragma unroll 1
    for (int row = first_row; row < end_row; ++row) {
      fetch_ahead(m + ROWS_AHEAD * (size_t)frame_width);
      fetch_ahead(r + ROWS_AHEAD * (size_t)frame_width);
      const FrameRow m2 = frame_row(m, count);
      around[3] = reference_row(r, count, wx, dx);
      const float16 value =
          fma((float16)(2.0f / 3.0f), m1.value, (1.0f / 6.0f) * (m0.value + m2.value)) - frame_mean;
      const float16 mx =
          fma((float16)(2.0f / 3.0f), m1.slope, (1.0f / 6.0f) * (m0.slope + m2.slope));
      const float16 my = 0.5f * (m2.value - m0.value);
      const float16 known = down(around, wy) - reference_mean;
      const float16 rx = slope_down(around, wy);
      const float16 ry = down(around, dy);
      const float16 residual = value - fma(gain, known, offset);
      // NaN if any pixel in the support is not finite.
      const float16 test = residual + (rx + ry) + (mx + my);
      const int16 counts = wanted & (test - test == 0.0f);
      const float16 left = only(residual, counts);
      const float16 one = only((float16)(1.0f), counts);
      wa_shift_add(only(value, counts), only(mx, counts), only(my, counts), only(known, counts),
                   only(rx, counts), only(ry, counts), left,
                   wa_tukey_weight(left, inverse_scale) * one, one, sums);
      m0 = m1;
      m1 = m2;
      around[0] = around[1];
      around[1] = around[2];
      around[2] = around[3];
      m += frame_width;
      r += frame_width;
    }
  }
#pragma unroll
  for (int i = 0; i < WA_SHIFT_SUMS; ++i) {
    partials[get_global_id(0) * WA_SHIFT_SUMS + (size_t)i] = sum_of_lanes(sums[i]);
  }
}
