// The cross-power spectra of many windows for CPUs: like shared/window_cross_power.cl, but a
// work-item takes some rows of a window, sixteen columns at a time.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/spectrum.h"
#include "lib/complex_simd.h"

#define ROWS 16

WA_INLINE float weight_of(int v, int n, float falloff) {
  const float rho = 2.0f * (float)wa_signed_frequency(v, n) / (float)n;
  return wa_gaussian_weight(rho * rho, falloff);
}

// Arguments as in shared/window_cross_power.cl. `groups` work-items share a window.
SIMD_KERNEL window_cross_power(
    global const float* reference, global const float* frames, int windows, int width, int columns,
    int height, int groups, float falloff, int whitened, global float* output) {
  const int number = (int)get_global_id(0) / groups;
  const int first_row = ((int)get_global_id(0) - number * groups) * ROWS;
  const int rows = min(ROWS, height - first_row);
  const size_t plane = (size_t)columns * (size_t)height;
  const size_t start = (size_t)first_row * (size_t)columns;
  global const float* a = frames + 2 * ((size_t)number * plane + start);
  global const float* b = reference + 2 * ((size_t)(number % windows) * plane + start);
  global float* to = output + 2 * ((size_t)number * plane + start);
  float down[ROWS];
  for (int i = 0; i < rows; ++i) down[i] = weight_of(first_row + i, height, falloff);
#pragma unroll 1
  for (int u = 0; u < columns; u += 16) {
    const int count = min(16, columns - u);
    float16 along;
    for (int i = 0; i < 16; ++i) {
      ((float*)&along)[i] = weight_of(min(u + i, width / 2), width, falloff);
    }
#pragma unroll 1
    for (int i = 0; i < rows; ++i) {
      const size_t at = 2 * ((size_t)i * (size_t)columns + (size_t)u);
      const Lanes raw_a = load_lanes(a + at, count);
      const Lanes raw_b = load_lanes(b + at, count);
      float16 scale_a = along * down[i];
      float16 scale_b = 1.0f;
      if (whitened) {
        scale_a *= sqrt(wa_reciprocal_magnitude(raw_a.re, raw_a.im));
        scale_b = sqrt(wa_reciprocal_magnitude(raw_b.re, raw_b.im));
      }
      // An infinite number times a scale of 0 is NaN.
      const int16 counts = scale_a > 0.0f && scale_b > 0.0f;
      const Lanes p = {raw_a.re * scale_a, raw_a.im * scale_a};
      const Lanes q = {raw_b.re * scale_b, raw_b.im * scale_b};
      const Lanes product = {only(fma(p.re, q.re, p.im * q.im), counts),
                             only(fma(p.im, q.re, -p.re * q.im), counts)};
      store_lanes(product, count, to + at);
    }
  }
}
