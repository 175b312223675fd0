// The magnitudes of half spectra raised to a power, with the rows of each reordered around v = 0.
//
// Option: SIMD, for devices with vector registers: a work-item computes sixteen columns.
//
// variant: gpu
// variant: cpu -DSIMD
#include "lib/simd_kernel.h"
#if defined(SIMD)
#define WA_REAL float16
#define HINT SIMD_HINT
#else
#define HINT
#endif
#include "formulas/magnitude.h"

// columns = width / 2 + 1. Row v of an image is written to its row (v + height / 2) mod height;
// `rows` is the number of rows of all images.
kernel HINT void magnitude(global const float2* spectra, global float* output, int columns,
                           int height, int rows, float half_exponent) {
  const int from = (int)get_global_id(1);
  if (from >= rows) return;
  const int v = from % height;
  const int shifted = v + height / 2;
  const int row = from - v + (shifted >= height ? shifted - height : shifted);
  global const float* source = (global const float*)(spectra + (size_t)from * (size_t)columns);
  global float* target = output + (size_t)row * (size_t)columns;
#if defined(SIMD)
  const int wanted = 16 * (int)get_global_id(0);
  if (wanted >= columns) return;
  if (columns < 16) {
    for (int u = 0; u < columns; ++u) {
      target[u] =
          wa_magnitude_power((float16)(source[2 * u]), (float16)(source[2 * u + 1]), half_exponent)
              .s0;
    }
    return;
  }
  const int u = min(wanted, columns - 16);  // the last vector overlaps the one before
  const float16 first = vload16(0, source + 2 * u);
  const float16 second = vload16(1, source + 2 * u);
  const float16 powers = wa_magnitude_power((float16)(first.even, second.even),
                                            (float16)(first.odd, second.odd), half_exponent);
  if (u == wanted) {
    vstore16(powers, 0, target + u);
    return;
  }
  float lanes[16];
  vstore16(powers, 0, lanes);
  for (int k = wanted - u; k < 16; ++k) target[u + k] = lanes[k];
#else
  const int u = (int)get_global_id(0);
  if (u >= columns) return;
  target[u] = wa_magnitude_power(source[2 * u], source[2 * u + 1], half_exponent);
#endif
}
