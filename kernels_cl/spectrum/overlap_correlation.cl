// Correlation at every shift, scored by the overlap: products of spectra, then scores of
// correlation surfaces.
//
// variant: gpu
#include "formulas/overlap.h"

// Writes A conj(B) to one slice of the products and A B to the next.
inline void multiply(global const float2* a, global const float2* b, int i, int plane,
                     global float2* products) {
  const float2 p = a[i];
  const float2 q = b[i];
  products[i] = (float2)(fma(p.x, q.x, p.y * q.y), fma(p.y, q.x, -p.x * q.y));
  products[plane + i] = (float2)(fma(p.x, q.x, -p.y * q.y), fma(p.y, q.x, p.x * q.y));
}

kernel void overlap_products(global const float2* a, global const float2* a_weight,
                             global const float2* b, global const float2* b_weight, int plane,
                             global float2* products) {
  const int i = (int)get_global_id(0);
  if (i >= plane) return;
  multiply(a, b, i, plane, products);
  multiply(a_weight, b_weight, i, plane, products + 2 * plane);
}

// The surfaces are C, C mirrored, N and N mirrored, times `plane`. reach2: the square of the
// maximum distance of a shift from the centre of its surface, 0 for any distance; of equivalent
// periodic shifts, the smallest is taken.
kernel void overlap_score(global const float* surfaces, int width, int height, float min_overlap,
                          float reach2, float2 centre_0, float2 centre_1, global float* scores) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  const int plane = width * height;
  const int i = y * width + x;
  for (int mirrored = 0; mirrored < 2; ++mirrored) {
    const float2 centre = mirrored ? centre_1 : centre_0;
    const float dx = wa_shift_distance(x, centre.x, width);
    const float dy = wa_shift_distance(y, centre.y, height);
    scores[mirrored * plane + i] =
        wa_shift_allowed(dx, dy, reach2)
            ? wa_overlap_score(surfaces[mirrored * plane + i], surfaces[(2 + mirrored) * plane + i],
                               (float)plane, min_overlap)
            : 0.0f;
  }
}
