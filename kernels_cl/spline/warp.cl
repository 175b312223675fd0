// Bilinear resampling under an affine transform, by four bounds-checked loads per pixel. (The
// texture unit would need a copy of the input to an image first, which costs more than the loads.)
//
// Option: PIXELS, the number of pixels of a row, a group's width apart, that a work-item computes.
//
// variant: gpu -DPIXELS=4
#include "formulas/affine.h"
#include "formulas/bilinear.h"

WA_INLINE float pixel(global const float* input, int width, int height, int x, int y) {
  const bool inside = x >= 0 && x < width && y >= 0 && y < height;
  return inside ? input[(size_t)y * (size_t)width + (size_t)x] : 0.0f;
}

WA_INLINE float sample(global const float* input, int width, int height, float x, float x_low,
                       float y, float y_low) {
  // The test is also true for NaN. More than one pixel outside the image, all four neighbours are
  // outside.
  if (!(x > -2.0f && x < (float)width + 1.0f && y > -2.0f && y < (float)height + 1.0f)) return 0.0f;
  int x0, y0;
  const float a = wa_split(x, x_low, &x0);
  const float b = wa_split(y, y_low, &y0);
  if (x0 >= 0 && x0 < width - 1 && y0 >= 0 && y0 < height - 1) {
    global const float* first = input + ((size_t)y0 * (size_t)width + (size_t)x0);
    return wa_bilinear(first[0], first[1], first[width], first[width + 1], a, b);
  }
  return wa_bilinear(pixel(input, width, height, x0, y0), pixel(input, width, height, x0 + 1, y0),
                     pixel(input, width, height, x0, y0 + 1),
                     pixel(input, width, height, x0 + 1, y0 + 1), a, b);
}

// Output pixel (centre_x + dx, centre_y + dy) is read at the point given by x_row and y_row: each
// is (a, b, c) of the transform about the output's centre, with the parts that float cannot hold in
// x_rest and y_rest (formulas/affine.h). The output has `first` pixels in the slices before this
// one.
kernel void warp(global const float* restrict input, int width, int height, float4 x_row,
                 float4 x_rest, float4 y_row, float4 y_rest, int centre_x, int centre_y,
                 global float* restrict output, ulong first, int output_width,
                 int output_height) {
  const int columns = (int)get_local_size(0);
  const int left = (int)get_group_id(0) * columns * PIXELS + (int)get_local_id(0);
  const int oy = (int)get_global_id(1);
  if (left >= output_width || oy >= output_height) return;
  const float dx = (float)(left - centre_x);
  const float dy = (float)(oy - centre_y);
  float x_low, y_low;
  const float x =
      wa_affine(x_row.x, x_rest.x, dx, x_row.y, x_rest.y, dy, x_row.z, x_rest.z, &x_low);
  const float y =
      wa_affine(y_row.x, y_rest.x, dx, y_row.y, y_rest.y, dy, y_row.z, y_rest.z, &y_low);
  global float* row = output + (size_t)first + (size_t)oy * (size_t)output_width;
  const int count = PIXELS == 1 ? 1 : min(PIXELS, (output_width - left + columns - 1) / columns);
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    if (k >= count) break;
    // Single precision is enough for the few steps from the first pixel on.
    const float ahead = (float)(k * columns);
    float x_error, y_error;
    const float x_high = wa_two_sum(x, ahead * x_row.x, &x_error);
    const float y_high = wa_two_sum(y, ahead * y_row.x, &y_error);
    row[left + k * columns] =
        sample(input, width, height, x_high, x_low + x_error, y_high, y_low + y_error);
  }
}
