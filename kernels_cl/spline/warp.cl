// Bilinear resampling under an affine transform, by four bounds-checked loads per pixel. (The
// texture unit would need a copy of the input to an image first, which costs more than the loads.)
//
// Options: PIXELS, the number of pixels of a row, a group's width apart, that a work-item computes;
// TRANSFORMS, the largest number of slices, each under its own transform, that one launch writes.
//
// variant: gpu -DPIXELS=4 -DTRANSFORMS=16
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

// The rows of a transform about the output's centre: (a, b, c) of x and of y, and the parts that
// float cannot hold (formulas/affine.h).
typedef struct {
  float x[3], x_rest[3], y[3], y_rest[3];
} Rows;

// As an argument: a launch for each slice would take longer than its pixels, and so would a copy.
typedef struct {
  Rows entries[TRANSFORMS];
} Transforms;

// Output pixel (centre_x + dx, centre_y + dy) of a slice is read at the point to which the slice's
// transform maps (dx, dy). The grid has `groups` rows of work-groups a slice, and the output has
// `first` pixels before the first slice.
kernel void warp(global const float* restrict input, int width, int height, Transforms transforms,
                 int groups, int centre_x, int centre_y, global float* restrict output, ulong first,
                 int output_width, int output_height) {
  const int columns = (int)get_local_size(0);
  const int left = (int)get_group_id(0) * columns * PIXELS + (int)get_local_id(0);
  const int slice = (int)get_group_id(1) / groups;
  const int group = (int)get_group_id(1) - slice * groups;
  const int oy = group * (int)get_local_size(1) + (int)get_local_id(1);
  if (left >= output_width || oy >= output_height) return;
  Rows m = transforms.entries[0];
  // Not by an index: compilers would copy the argument to memory of each work-item.
  WA_UNROLL
  for (int k = 1; k < TRANSFORMS; ++k) {
    if (slice == k) m = transforms.entries[k];
  }
  const float dx = (float)(left - centre_x);
  const float dy = (float)(oy - centre_y);
  float x_low, y_low;
  const float x =
      wa_affine(m.x[0], m.x_rest[0], dx, m.x[1], m.x_rest[1], dy, m.x[2], m.x_rest[2], &x_low);
  const float y =
      wa_affine(m.y[0], m.y_rest[0], dx, m.y[1], m.y_rest[1], dy, m.y[2], m.y_rest[2], &y_low);
  const size_t line = (size_t)slice * (size_t)output_height + (size_t)oy;
  global float* row = output + (size_t)first + line * (size_t)output_width;
  const int count = PIXELS == 1 ? 1 : min(PIXELS, (output_width - left + columns - 1) / columns);
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    if (k >= count) break;
    // Single precision is enough for the few steps from the first pixel on.
    const float ahead = (float)(k * columns);
    float x_error, y_error;
    const float x_high = wa_two_sum(x, ahead * m.x[0], &x_error);
    const float y_high = wa_two_sum(y, ahead * m.y[0], &y_error);
    row[left + k * columns] =
        sample(input, width, height, x_high, x_low + x_error, y_high, y_low + y_error);
  }
}
