// Bilinear resampling under an affine transform.
//
// Option: TEXTURE reads the input through an image and its sampler; without it, four guarded
// loads. The sampler is an argument: some compilers crash on a choice of constant samplers.
#include "formulas/affine.h"
#include "formulas/bilinear.h"

#ifdef TEXTURE

// The sampler's border colour is 0, so that each neighbour outside counts as 0.
inline float sample(read_only image2d_t input, sampler_t linear, int width, int height,
                    float x, float x_rest, float y, float y_rest) {
  return read_imagef(input, linear, (float2)(x + (x_rest + 0.5f), y + (y_rest + 0.5f))).x;
}

#else

inline float pixel(global const float* input, int width, int height, int x, int y) {
  const bool inside = x >= 0 && x < width && y >= 0 && y < height;
  return inside ? input[(size_t)y * (size_t)width + (size_t)x] : 0.0f;
}

inline float sample(global const float* input, int width, int height, float x, float x_rest,
                    float y, float y_rest) {
  int x0, y0;
  const float a = wa_split(x, x_rest, &x0);
  const float b = wa_split(y, y_rest, &y0);
  return wa_bilinear(pixel(input, width, height, x0, y0), pixel(input, width, height, x0 + 1, y0),
                     pixel(input, width, height, x0, y0 + 1),
                     pixel(input, width, height, x0 + 1, y0 + 1), a, b);
}

#endif

// Output pixel (centre_x + dx, centre_y + dy) is read at row_x, row_y: each (a, b, c) of the
// transform about the output's centre with the parts that float cannot hold, see
// formulas/affine.h.
kernel void warp(
#ifdef TEXTURE
    read_only image2d_t input, sampler_t linear,
#else
    global const float* input,
#endif
    int width, int height, float4 x_row, float4 x_rest, float4 y_row, float4 y_rest,
    int centre_x, int centre_y, global float* output, int output_width, int output_height) {
  const int ox = (int)get_global_id(0);
  const int oy = (int)get_global_id(1);
  if (ox >= output_width || oy >= output_height) return;
  const float dx = (float)(ox - centre_x);
  const float dy = (float)(oy - centre_y);
  float x_low, y_low;
  const float x = wa_affine(x_row.x, x_rest.x, dx, x_row.y, x_rest.y, dy, x_row.z, x_rest.z,
                            &x_low);
  const float y = wa_affine(y_row.x, y_rest.x, dx, y_row.y, y_rest.y, dy, y_row.z, y_rest.z,
                            &y_low);
  float result = 0.0f;
  // Also false for NaN. Beyond one pixel outside, all four neighbours are outside.
  if (x > -2.0f && x < (float)width + 1.0f && y > -2.0f && y < (float)height + 1.0f) {
#ifdef TEXTURE
    result = sample(input, linear, width, height, x, x_low, y, y_low);
#else
    result = sample(input, width, height, x, x_low, y, y_low);
#endif
  }
  output[(size_t)oy * (size_t)output_width + (size_t)ox] = result;
}
