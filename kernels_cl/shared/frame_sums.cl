// The sums of a Gauss-Newton step for the similarity of each of many frames, each in cells.
//
// A work-group processes one cell.
//
// Options: GROUP, the size of the work-group.
//
// variant: gpu -DGROUP=64
#include "formulas/frame_sums.h"
#include "formulas/shift_sums.h"
#include "shared/kernel_language.h"

// The cubic B-spline and its slopes at a sample, with the samples as coefficients.
WA_INLINE float wa_smoothed(WA_GLOBAL const float* p, int width, float* slope_x, float* slope_y) {
  float values[3];
  float slopes[3];
  for (int j = 0; j < 3; ++j) {
    WA_GLOBAL const float* row = p + (j - 1) * width;
    values[j] = WA_FMA(2.0f / 3.0f, row[0], (1.0f / 6.0f) * (row[-1] + row[1]));
    slopes[j] = 0.5f * (row[1] - row[-1]);
  }
  *slope_x = WA_FMA(2.0f / 3.0f, slopes[1], (1.0f / 6.0f) * (slopes[0] + slopes[2]));
  *slope_y = 0.5f * (values[2] - values[0]);
  return WA_FMA(2.0f / 3.0f, values[1], (1.0f / 6.0f) * (values[0] + values[2]));
}

// The spline and its slopes between samples: (s, t) beyond the second of four by four samples.
WA_INLINE float wa_smoothed_between(WA_GLOBAL const float* p, int width, float s, float t,
                                    float* slope_x, float* slope_y) {
  float wx[4];
  float wy[4];
  float dx[4];
  float dy[4];
  wa_bspline_weights_3(s, wx);
  wa_bspline_weights_3(t, wy);
  wa_cubic_slopes(s, dx);
  wa_cubic_slopes(t, dy);
  float value = 0.0f;
  *slope_x = 0.0f;
  *slope_y = 0.0f;
  for (int j = 0; j < 4; ++j) {
    WA_GLOBAL const float* row = p + j * width;
    const float along = wa_row_of_four(row[0], row[1], row[2], row[3], wx);
    value = WA_FMA(wy[j], along, value);
    *slope_x = WA_FMA(wy[j], wa_row_of_four(row[0], row[1], row[2], row[3], dx), *slope_x);
    *slope_y = WA_FMA(dy[j], along, *slope_y);
  }
  return value;
}

WA_KERNEL(GROUP, 1)
frame_sums(WA_GLOBAL const float* frames, WA_GLOBAL const float* reference, int width, int height,
           int cells, int references, WA_GLOBAL const int* states, WA_GLOBAL float* partials) {
  WA_BEGIN();
  WA_LOCAL float shared[WA_FRAME_SUMS * (GROUP + 1)];
  const int number = WA_GROUP_X;
  WA_GLOBAL const int* state = states + (WA_UINT64)number * WA_FRAME_STATE_WORDS;
  if (state[19] == 0) {
    for (int i = WA_ITEM_X; i < WA_FRAME_SUMS; i += GROUP) {
      partials[(WA_UINT64)number * WA_FRAME_SUMS + i] = 0.0f;
    }
    return;
  }
  const int first_column = state[0];
  const int first_row = state[2];
  const int columns = state[1] - first_column;
  const int rows = state[3] - first_row;
  const float a = WA_BITS_FLOAT(state[8]);
  const float b = WA_BITS_FLOAT(state[9]);
  const float d = WA_BITS_FLOAT(state[10]);
  const float e = WA_BITS_FLOAT(state[11]);
  const float shrink = 1.0f / WA_FMA(a, a, d * d);
  const float inverse_scale = WA_BITS_FLOAT(state[18]);
  WA_GLOBAL const float* frame = frames + (WA_UINT64)(number / cells) * width * height;
  reference += (WA_UINT64)(number / cells % references) * width * height;

  float sums[WA_FRAME_SUMS];
  for (int i = 0; i < WA_FRAME_SUMS; ++i) sums[i] = 0.0f;
  const int pixels = columns > 0 && rows > 0 ? columns * rows : 0;
  for (int pixel = WA_ITEM_X; pixel < pixels; pixel += GROUP) {
    const int row = pixel / columns;
    const int column = pixel - row * columns;
    const float i = (float)column;
    const float j = (float)row;
    const float step_x = WA_FMA(a, i, b * j);
    const float step_y = WA_FMA(d, i, e * j);
    const float x = WA_BITS_FLOAT(state[6]) + step_x;
    const float y = WA_BITS_FLOAT(state[7]) + step_y;
    const float below_x = WA_FLOOR(x);
    const float below_y = WA_FLOOR(y);
    const int x0 = state[4] + (int)below_x;
    const int y0 = state[5] + (int)below_y;
    if (x0 < 1 || y0 < 1 || x0 > width - 3 || y0 > height - 3) continue;
    float mx, my, rx, ry;
    const float value =
        wa_smoothed(frame + (WA_UINT64)(first_row + row) * width + (first_column + column), width,
                    &mx, &my) -
        WA_BITS_FLOAT(state[14]);
    const float known =
        wa_smoothed_between(reference + (WA_UINT64)(y0 - 1) * width + (x0 - 1), width, x - below_x,
                            y - below_y, &rx, &ry) -
        WA_BITS_FLOAT(state[15]);
    const float residual =
        value - WA_FMA(WA_BITS_FLOAT(state[16]), known, WA_BITS_FLOAT(state[17]));
    // NaN if any pixel in the support is not finite.
    const float test = residual + (rx + ry) + (mx + my);
    if (!(test - test == 0.0f)) continue;
    const float dx = WA_BITS_FLOAT(state[12]) + step_x;
    const float dy = WA_BITS_FLOAT(state[13]) + step_y;
    float z[4];
    float slopes[4];
    wa_similarity_slopes(WA_FMA(a, mx, b * my) * shrink, WA_FMA(d, mx, e * my) * shrink, dx, dy, z);
    wa_similarity_slopes(rx, ry, dx, dy, slopes);
    wa_frame_add(value, WA_FMA(mx, mx, my * my), z, known, slopes, residual,
                 wa_tukey_weight(residual, inverse_scale), 1.0f, sums);
  }
  for (int i = 0; i < WA_FRAME_SUMS; ++i) shared[i * (GROUP + 1) + WA_ITEM_X] = sums[i];
  WA_BARRIER();
  for (int i = WA_ITEM_X; i < WA_FRAME_SUMS; i += GROUP) {
    float sum = 0.0f;
    for (int k = 0; k < GROUP; ++k) sum += shared[i * (GROUP + 1) + k];
    partials[(WA_UINT64)number * WA_FRAME_SUMS + i] = sum;
  }
}
