// The normalised cross-power spectrum (registration paper, equation 4), in one pass.
//
// Options: WEIGHTED for the Gaussian weight; WITH_ROTATED_180 to write the second slice; VOLUME for
// the spectra of volumes, and STACK for those of many images. The grids of these two are those of
// opencl::patches().
//
// variant: gpu
// variant: gpu -DWEIGHTED -DSTACK
// variant: gpu -DWEIGHTED -DWITH_ROTATED_180
// variant: gpu -DWEIGHTED -DVOLUME
#include "formulas/spectrum.h"
#include "lib/grid.h"

// columns = width / 2 + 1. Slice 0: w A conj(B) / |A conj(B)|; slice 1: w A B / |A B|. The kernel
// divides by |A| and |B| separately, because their product may overflow or underflow. In a stack,
// `a` and `b` have the rows of all their images, and the one that has fewer rows repeats from the
// beginning.
kernel void cross_power(global const float2* a, global const float2* b, global float2* output,
                        int width, int columns, int height, int depth, int a_rows, int b_rows,
                        float falloff) {
#if defined(VOLUME) || defined(STACK)
  const Item item = patch_item(columns);
  const int u = item.x;
  const int row = item.y;
  const int v = row % height;
#else
  const int u = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  const int v = row;
#endif
  if (u >= columns || row >= max(a_rows, b_rows)) return;
  const size_t at = (size_t)row * (size_t)columns + (size_t)u;
#ifdef STACK
  const float2 raw_a = a[(size_t)(row % a_rows) * (size_t)columns + (size_t)u];
  const float2 raw_b = b[(size_t)(row % b_rows) * (size_t)columns + (size_t)u];
#else
  const float2 raw_a = a[at];
  const float2 raw_b = b[at];
#endif
  const float scale_a = wa_reciprocal_magnitude(raw_a.x, raw_a.y);
  const float scale_b = wa_reciprocal_magnitude(raw_b.x, raw_b.y);
  float2 same = (float2)(0.0f);
#ifdef WITH_ROTATED_180
  float2 rotated_180 = (float2)(0.0f);
#endif
  if (scale_a > 0.0f && scale_b > 0.0f) {
    float weight = 1.0f;
#ifdef WEIGHTED
    const float rho_x = 2.0f * (float)u / (float)width;
    const float rho_y = 2.0f * (float)wa_signed_frequency(v, height) / (float)height;
    float rho_square = fma(rho_x, rho_x, rho_y * rho_y);
#ifdef VOLUME
    const float rho_z = 2.0f * (float)wa_signed_frequency(row / height, depth) / (float)depth;
    rho_square = fma(rho_z, rho_z, rho_square);
#endif
    weight = wa_gaussian_weight(rho_square, falloff);
#endif
    const float2 p = raw_a * (scale_a * weight);
    const float2 q = raw_b * scale_b;
    same = (float2)(fma(p.x, q.x, p.y * q.y), fma(p.y, q.x, -p.x * q.y));
#ifdef WITH_ROTATED_180
    rotated_180 = (float2)(fma(p.x, q.x, -p.y * q.y), fma(p.y, q.x, p.x * q.y));
#endif
  }
  output[at] = same;
#ifdef WITH_ROTATED_180
  output[at + (size_t)columns * (size_t)height] = rotated_180;
#endif
}
