// Window an image about its mean and place it on a canvas.
//
// Option: WINDOWED, where there is a window; its two 1-D tables are made once per plan.
#include "formulas/window.h"

kernel void hann_table(global float* table, int n, float one_over_n) {
  const int i = (int)get_global_id(0);
  if (i < n) table[i] = wa_hann(i, one_over_n);
}

// statistics[0] is the mean; (ox, oy) is where the input's pixel (0, 0) lies.
kernel void apodize(global const float* input, int width, int height,
                    global const float* statistics, global const float* window_x,
                    global const float* window_y, global float* canvas, int canvas_width,
                    int canvas_height, int ox, int oy) {
  const int cx = (int)get_global_id(0);
  const int cy = (int)get_global_id(1);
  if (cx >= canvas_width || cy >= canvas_height) return;
  const int x = cx - ox;
  const int y = cy - oy;
  float result = 0.0f;
  if (x >= 0 && x < width && y >= 0 && y < height) {
    const float value = input[(size_t)y * (size_t)width + (size_t)x];
    if (isfinite(value)) result = value - statistics[0];
#ifdef WINDOWED
    result *= window_x[x] * window_y[y];
#endif
  }
  canvas[(size_t)cy * (size_t)canvas_width + (size_t)cx] = result;
}
