// The warp of an image whose pixels are all 1 (unit weights), for CPUs: the part of each pixel's
// neighbourhood that lies in the image, as interpolate_cpu.cl would compute it from the pixels.
//
// variant: cpu
#include "lib/launch.h"
#include "lib/simd.h"

// The weight of the existing ones of a point's two neighbours along an axis, for sixteen points
// that begin `after_first` after the first of the n samples and are `step` apart. In fixed point
// the distances from both ends are exact where they matter.
WA_INLINE float16 part_inside(long after_first, float step, int n) {
  const float unit = 1.0f / (float)(1L << WA_CPU_FRACTION_BITS);
  const long one = 1L << WA_CPU_FRACTION_BITS;
  const float16 steps = convert_float16(NUMBERS) * step;
  const float16 from_before = (float)(after_first + one) * unit + steps;
  const float16 to_behind = (float)(n * one - after_first) * unit - steps;
  return clamp(fmin(from_before, to_behind), 0.0f, 1.0f);
}

// Pixel (x, y) of the output lies at fixed_i.x x + fixed_i.y y + fixed_i.w along axis i of the
// input. Work-item y processes a row of the output, which begins at pixel `first`.
SIMD_KERNEL warp_ones(
    int width, int height, long4 fixed_x, long4 fixed_y, float2 step, global float* output,
    ulong first, int output_width, int output_height) {
  const int y = (int)get_global_id(0);
  if (y >= output_height) return;
  global float* row = output + first + (size_t)y * (size_t)output_width;
  long u = fixed_x.y * y + fixed_x.w;
  long v = fixed_y.y * y + fixed_y.w;
#pragma unroll 1
  for (int x = 0; x < output_width; x += 16) {
    const float16 part = part_inside(u, step.x, width) * part_inside(v, step.y, height);
    store_some(part, output_width - x, row + x);
    u += 16 * fixed_x.x;
    v += 16 * fixed_y.x;
  }
}
