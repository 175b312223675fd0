// The sums of a Gauss-Newton step for the shift of each of many windows.
//
// A work-item goes down a column of its part of the window and keeps the rows that the next pixels
// need. The shift is the same for all pixels of a window, so each new row needs four pixels of the
// reference and three of the frame.
//
// Options: GROUP, the size of the work-group.
//
// variant: gpu -DGROUP=64
#include "formulas/shift_sums.h"
#include "shared/kernel_language.h"

// The words of warpalign::ShiftState.
#define STATE_WORDS 14

WA_INLINE float wa_weighed(WA_GLOBAL const float* p, const float* w) {
  return WA_FMA(w[3], p[3], WA_FMA(w[2], p[2], WA_FMA(w[1], p[1], w[0] * p[0])));
}

// A row of the frame, smoothed like the reference at its samples, and its slope.
typedef struct {
  float value, slope;
} FrameRow;

WA_INLINE FrameRow wa_frame_row(WA_GLOBAL const float* p) {
  FrameRow row;
  row.value = WA_FMA(2.0f / 3.0f, p[0], (1.0f / 6.0f) * (p[-1] + p[1]));
  row.slope = 0.5f * (p[1] - p[-1]);
  return row;
}

// `parts` work-groups share a window; `together` windows of a frame share a mean. The sums of an
// inactive window stay unchanged.
WA_KERNEL(GROUP, 1)
shift_sums(WA_GLOBAL const float* frames, WA_GLOBAL const float* reference, int frame_width,
           int frame_height, int windows, WA_GLOBAL const float* frame_means,
           WA_GLOBAL const float* reference_means, int together, WA_GLOBAL const int* states,
           int parts, WA_GLOBAL float* partials) {
  WA_BEGIN();
  WA_LOCAL float shared[WA_SHIFT_SUMS * (GROUP + 1)];
  const int number = WA_GROUP_X / parts;
  const int part = WA_GROUP_X - number * parts;
  WA_GLOBAL const int* state = states + number * STATE_WORDS;
  if (state[13] == 0) return;
  const int frame = number / windows;
  const float frame_mean = frame_means[number / together];
  const float reference_mean = reference_means[(number - frame * windows) / together];
  const float gain = WA_BITS_FLOAT(state[10]);
  const float offset = WA_BITS_FLOAT(state[11]);
  const float inverse_scale = WA_BITS_FLOAT(state[12]);
  float wx[4];
  float wy[4];
  float dx[4];
  float dy[4];
  wa_bspline_weights_3(WA_BITS_FLOAT(state[8]), wx);
  wa_bspline_weights_3(WA_BITS_FLOAT(state[9]), wy);
  wa_cubic_slopes(WA_BITS_FLOAT(state[8]), dx);
  wa_cubic_slopes(WA_BITS_FLOAT(state[9]), dy);
  const int rows = state[7] - state[6];
  const int first_row = state[6] + rows * part / parts;
  const int end_row = state[6] + rows * (part + 1) / parts;

  float sums[WA_SHIFT_SUMS];
  for (int i = 0; i < WA_SHIFT_SUMS; ++i) sums[i] = 0.0f;
  for (int column = state[4] + WA_ITEM_X; column < state[5]; column += GROUP) {
    if (first_row >= end_row) break;
    WA_GLOBAL const float* m = frames + (WA_UINT64)frame * frame_width * frame_height +
                               (WA_UINT64)(state[1] + first_row - 1) * frame_width +
                               (state[0] + column);
    WA_GLOBAL const float* r =
        reference + (WA_UINT64)(state[3] + first_row - 1) * frame_width + (state[2] + column - 1);
    FrameRow m0 = wa_frame_row(m);
    FrameRow m1 = wa_frame_row(m + frame_width);
    float a0 = wa_weighed(r, wx);
    float a1 = wa_weighed(r + frame_width, wx);
    float a2 = wa_weighed(r + 2 * frame_width, wx);
    float b0 = wa_weighed(r, dx);
    float b1 = wa_weighed(r + frame_width, dx);
    float b2 = wa_weighed(r + 2 * frame_width, dx);
    m += 2 * frame_width;
    r += 3 * frame_width;
    for (int row = first_row; row < end_row; ++row) {
      const FrameRow m2 = wa_frame_row(m);
      const float a3 = wa_weighed(r, wx);
      const float b3 = wa_weighed(r, dx);
      const float value =
          WA_FMA(2.0f / 3.0f, m1.value, (1.0f / 6.0f) * (m0.value + m2.value)) - frame_mean;
      const float mx = WA_FMA(2.0f / 3.0f, m1.slope, (1.0f / 6.0f) * (m0.slope + m2.slope));
      const float my = 0.5f * (m2.value - m0.value);
      const float known =
          WA_FMA(wy[3], a3, WA_FMA(wy[2], a2, WA_FMA(wy[1], a1, wy[0] * a0))) - reference_mean;
      const float rx = WA_FMA(wy[3], b3, WA_FMA(wy[2], b2, WA_FMA(wy[1], b1, wy[0] * b0)));
      const float ry = WA_FMA(dy[3], a3, WA_FMA(dy[2], a2, WA_FMA(dy[1], a1, dy[0] * a0)));
      const float residual = value - WA_FMA(gain, known, offset);
      // NaN if any pixel in the support is not finite.
      const float test = residual + (rx + ry) + (mx + my);
      if (test - test == 0.0f) {
        wa_shift_add(value, mx, my, known, rx, ry, residual,
                     wa_tukey_weight(residual, inverse_scale), 1.0f, sums);
      }
      m0 = m1;
      m1 = m2;
      a0 = a1;
      a1 = a2;
      a2 = a3;
      b0 = b1;
      b1 = b2;
      b2 = b3;
      m += frame_width;
      r += frame_width;
    }
  }
  for (int i = 0; i < WA_SHIFT_SUMS; ++i) shared[i * (GROUP + 1) + WA_ITEM_X] = sums[i];
  WA_BARRIER();
  for (int i = WA_ITEM_X; i < WA_SHIFT_SUMS; i += GROUP) {
    float sum = 0.0f;
    for (int k = 0; k < GROUP; ++k) sum += shared[i * (GROUP + 1) + k];
    partials[(WA_UINT64)WA_GROUP_X * WA_SHIFT_SUMS + i] = sum;
  }
}
