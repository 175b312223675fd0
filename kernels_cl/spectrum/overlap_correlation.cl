// Correlation at every shift, scored by the overlap: products of spectra, then scores of
// correlation surfaces.
//
// Option: SECOND_CHANNEL, where the images that are correlated have two channels.
//
// variant: gpu
// variant: gpu -DSECOND_CHANNEL
#include "formulas/overlap.h"

// A conj(B), and A B.
inline float4 both_products(float2 p, float2 q) {
  return (float4)(fma(p.x, q.x, p.y * q.y), fma(p.y, q.x, -p.x * q.y), fma(p.x, q.x, -p.y * q.y),
                  fma(p.y, q.x, p.x * q.y));
}

// Writes them to one slice of the products and the next.
inline void store(float4 both, int i, int plane, global float2* products) {
  products[i] = both.xy;
  products[plane + i] = both.zw;
}

// The second index of a work-item is the number of the image b.
kernel void overlap_products(global const float2* a, global const float2* a_weight,
                             global const float2* b, global const float2* b_weight,
#ifdef SECOND_CHANNEL
                             global const float2* a_second, global const float2* b_second,
#endif
                             int plane, int batch, global float2* products) {
  const int i = (int)get_global_id(0);
  const size_t image = get_global_id(1);
  if (i >= plane || image >= (size_t)batch) return;
  b += image * (size_t)plane;
  b_weight += image * (size_t)plane;
  products += image * 4 * (size_t)plane;
  float4 both = both_products(a[i], b[i]);
#ifdef SECOND_CHANNEL
  both += both_products(a_second[i], b_second[image * (size_t)plane + i]);
#endif
  store(both, i, plane, products);
  store(both_products(a_weight[i], b_weight[i]), i, plane, products + 2 * (size_t)plane);
}

// The surfaces are C, C mirrored, N and N mirrored, times `plane`. reach2: the square of the
// maximum distance of a shift from the centre of its surface, 0 for any distance; of equivalent
// periodic shifts, the smallest is taken. Work-items go through the rows of all images.
kernel void overlap_score(global const float* surfaces, int width, int height, int batch,
                          float min_overlap, float reach2, float2 centre_0, float2 centre_1, global float* scores) {
  const int x = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (x >= width || row >= height * batch) return;
  const int plane = width * height;
  const int image = row / height;
  const int y = row - image * height;
  const int i = y * width + x;
  surfaces += (size_t)image * 4 * (size_t)plane;
  scores += (size_t)image * 2 * (size_t)plane;
#pragma unroll
  for (int mirrored = 0; mirrored < 2; ++mirrored) {
    const float score =
        wa_overlap_score(surfaces[mirrored * plane + i], surfaces[(2 + mirrored) * plane + i],
                         1.0f / (float)plane, min_overlap);
    const float2 centre = mirrored ? centre_1 : centre_0;
    bool allowed = true;
    // Searches rarely have a limit, and the distances cost more than the score.
    if (reach2 > 0.0f) {
      allowed = wa_shift_allowed(wa_shift_distance(x, centre.x, width),
                                 wa_shift_distance(y, centre.y, height), reach2);
    }
    scores[mirrored * plane + i] = allowed ? score : 0.0f;
  }
}
