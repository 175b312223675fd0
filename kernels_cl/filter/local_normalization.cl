// Local normalization of brightness and contrast: moments along rows, then along columns.
//
// Options: MASKED, if the image has weights; BY_IMAGE, if it consists of images, one below another,
// each with a mean and a floor of its own.
//
// The weights are those of a Gaussian: output i of an axis is the sum over k of weights[k n + i]
// times input first[i] + k. The given mean is subtracted before squaring.
//
// variant: gpu
// variant: gpu -DMASKED
// variant: gpu -DBY_IMAGE
#include "formulas/local_normalization.h"
#include "lib/local_levels.h"

// moments: (sum of weights, of values, of squares, 0).
kernel void local_moments(global const float* input,
#ifdef MASKED
                          global const float* counts,
#endif
                          int width, int height, LEVELS, global const int* first,
                          global const float* weights, int taps, global float4* moments) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  const size_t start = (size_t)y * (size_t)width + (size_t)first[x];
  const float mean_here = MEAN_OF(y);
  float4 sum = (float4)(0.0f);
  for (int k = 0; k < taps; ++k) {
#ifdef MASKED
    const float weight = weights[k * width + x] * counts[start + k];
#else
    const float weight = weights[k * width + x];
#endif
    const float value = input[start + k] - mean_here;
    sum = fma((float4)(weight), (float4)(1.0f, value, value * value, 0.0f), sum);
  }
  moments[(size_t)y * (size_t)width + (size_t)x] = sum;
}

kernel void normalize_locally(global const float* input,
#ifdef MASKED
                              global const float* counts,
#endif
                              int width, int height, LEVELS, global const int* first,
                              global const float* weights, int taps,
                              global const float4* moments, global float* output) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  const size_t start = (size_t)first[y] * (size_t)width + (size_t)x;
  float4 sum = (float4)(0.0f);
  for (int k = 0; k < taps; ++k) {
    sum = fma((float4)(weights[k * height + y]), moments[start + (size_t)k * (size_t)width], sum);
  }
  const size_t at = (size_t)y * (size_t)width + (size_t)x;
#ifdef MASKED
  if (counts[at] < 0.5f) {
    output[at] = 0.0f;
    return;
  }
#endif
  output[at] = wa_normalize(input[at] - MEAN_OF(y), sum.x, sum.y, sum.z, FLOOR_SQUARE_OF(y));
}
