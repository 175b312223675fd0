// The normalised cross-power spectrum (registration paper, equation 4) for CPUs: like
// cross_power.cl, with vectors of sixteen numbers.
//
// Options: WEIGHTED for the Gaussian weight; WITH_ROTATED_180 to write the second slice.
//
// variant: cpu
// variant: cpu -DWEIGHTED -DWITH_ROTATED_180
#define WA_REAL float16
#include "formulas/spectrum.h"
#include "lib/complex_simd.h"
#include "lib/launch.h"

#define CHUNKS (WA_CROSS_POWER_COLUMNS / 16)
#define ROWS WA_CROSS_POWER_ROWS

// The factor of the Gaussian weight for frequency v of n, which is taken in units of the Nyquist
// frequency.
WA_INLINE float weight_of(int v, int n, float falloff) {
  const float rho = 2.0f * (float)wa_signed_frequency(v, n) / (float)n;
  return wa_gaussian_weight(rho * rho, falloff);
}

// Arguments as in cross_power.cl. Work-item (c, r) processes CHUNKS x 16 columns of ROWS rows.
SIMD_KERNEL cross_power(
    global const float2* a, global const float2* b, global float2* output, int width, int columns,
    int height, int depth, int a_rows, int b_rows, float falloff) {
  const int first = (int)get_global_id(0) * (CHUNKS * 16);
  const int last = min(first + CHUNKS * 16, columns);
  const int first_row = (int)get_global_id(1) * ROWS;
  const int last_row = min(first_row + ROWS, max(a_rows, b_rows));
#ifdef WEIGHTED
  float16 weights[CHUNKS];
  for (int i = 0; i < CHUNKS * 16; ++i) {
    ((float*)weights)[i] = weight_of(min(first + i, width / 2), width, falloff);
  }
#endif
  for (int row = first_row; row < last_row; ++row) {
    global const float2* row_of_a = a + (size_t)(row % a_rows) * (size_t)columns;
    global const float2* row_of_b = b + (size_t)(row % b_rows) * (size_t)columns;
#ifdef WEIGHTED
    const float row_weight = weight_of(row % height, height, falloff) *
                             (depth == 1 ? 1.0f : weight_of(row / height, depth, falloff));
#endif
    for (int u = first; u < last; u += 16) {
      const size_t at = (size_t)row * (size_t)columns + (size_t)u;
      const int count = min(16, last - u);
      const Lanes raw_a = load_lanes((global const float*)(row_of_a + u), count);
      const Lanes raw_b = load_lanes((global const float*)(row_of_b + u), count);
      float16 scale_a = wa_reciprocal_magnitude(raw_a.re, raw_a.im);
      float16 scale_b = wa_reciprocal_magnitude(raw_b.re, raw_b.im);
      const int16 none = scale_a == 0.0f || scale_b == 0.0f;
#ifdef WEIGHTED
      scale_a *= weights[(u - first) / 16] * row_weight;
#endif
      // Replaces a number without a reciprocal magnitude by 0: it may be infinite, and infinity
      // times 0 is NaN.
      const Lanes p = {select(raw_a.re * scale_a, (float16)(0.0f), none),
                       select(raw_a.im * scale_a, (float16)(0.0f), none)};
      const Lanes q = {select(raw_b.re * scale_b, (float16)(0.0f), none),
                       select(raw_b.im * scale_b, (float16)(0.0f), none)};
      const Lanes same = {fma(p.re, q.re, p.im * q.im), fma(p.im, q.re, -p.re * q.im)};
      store_lanes(same, count, (global float*)(output + at));
#ifdef WITH_ROTATED_180
      const Lanes rotated_180 = {fma(p.re, q.re, -p.im * q.im), fma(p.im, q.re, p.re * q.im)};
      const size_t slice = (size_t)columns * (size_t)height;
      store_lanes(rotated_180, count, (global float*)(output + at + slice));
#endif
    }
  }
}
