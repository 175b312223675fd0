// Bilinear interpolation of complex data at arbitrary points, in the three forms of the interview
// text "Bilinear interpolation in CUDA".
//
// Options: FETCH reads the neighbours through an image without filtering; FILTER lets the texture
// unit interpolate; without either, neighbours are loaded with bounds checks. Samplers are
// arguments and return zero beyond the edges.
//
// variant: gpu
// variant: gpu -DFETCH
// variant: gpu -DFILTER
#include "formulas/affine.h"
#include "formulas/bilinear.h"

WA_INLINE float2 interpolated(float2 h00, float2 h10, float2 h01, float2 h11, float a, float b) {
  return (float2)(wa_bilinear(h00.x, h10.x, h01.x, h11.x, a, b),
                  wa_bilinear(h00.y, h10.y, h01.y, h11.y, a, b));
}

#if defined(FILTER)

// The text's half-pixel offset: texture coordinates are relative to the first pixel's edge.
WA_INLINE float2 sample(read_only image2d_t image, sampler_t sampler, int width, int height,
                        float x, float y) {
  return read_imagef(image, sampler, (float2)(x + 0.5f, y + 0.5f)).xy;
}

#else

#if defined(FETCH)
#define NEIGHBOUR(x, y) read_imagef(image, sampler, (int2)(x, y)).xy
#define SOURCE read_only image2d_t image, sampler_t sampler
#else
#define NEIGHBOUR(x, y) loaded(image, width, height, x, y)
#define SOURCE global const float2* image

WA_INLINE float2 loaded(global const float2* image, int width, int height, int x, int y) {
  const bool inside = x >= 0 && x < width && y >= 0 && y < height;
  return inside ? image[(size_t)y * (size_t)width + (size_t)x] : (float2)(0.0f);
}
#endif

// Equations 1 to 4.
WA_INLINE float2 sample(SOURCE, int width, int height, float x, float y) {
  int i, j;
  const float a = wa_split(x, 0.0f, &i);
  const float b = wa_split(y, 0.0f, &j);
  return interpolated(NEIGHBOUR(i, j), NEIGHBOUR(i + 1, j), NEIGHBOUR(i, j + 1),
                      NEIGHBOUR(i + 1, j + 1), a, b);
}

#endif

kernel void complex_bilinear(
#if defined(FETCH) || defined(FILTER)
    read_only image2d_t image, sampler_t sampler,
#else
    global const float2* image,
#endif
    int width, int height, global const float* xs, global const float* ys, global float2* output,
    int output_width, int output_height) {
  const int column = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (column >= output_width || row >= output_height) return;
  const size_t pixel = (size_t)row * (size_t)output_width + (size_t)column;
  const float x = xs[pixel];
  const float y = ys[pixel];
  float2 result = (float2)(0.0f);
  // The test is also false for NaN. One pixel or more outside the image, all neighbours are
  // outside.
  if (x > -1.0f && x < (float)width && y > -1.0f && y < (float)height) {
#if defined(FETCH) || defined(FILTER)
    result = sample(image, sampler, width, height, x, y);
#else
    result = sample(image, width, height, x, y);
#endif
  }
  output[pixel] = result;
}
