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

// Writes them to one slice of the products and the next. The second index of a work-item is the
// number of the image b.
kernel void overlap_products(global const float2* a, global const float2* b,
#ifdef SECOND_CHANNEL
                             global const float2* a_second, global const float2* b_second,
#endif
                             int plane, int batch, global float2* products) {
  const int i = (int)get_global_id(0);
  const size_t image = get_global_id(1);
  if (i >= plane || image >= (size_t)batch) return;
  const size_t of_image = image * (size_t)plane + (size_t)i;
  float4 both = both_products(a[i], b[of_image]);
#ifdef SECOND_CHANNEL
  both += both_products(a_second[i], b_second[of_image]);
#endif
  products += image * 2 * (size_t)plane;
  products[i] = both.xy;
  products[(size_t)plane + (size_t)i] = both.zw;
}

// The surfaces are C and C mirrored, the overlaps N and N mirrored, both times `plane`; `each` is
// how many overlaps an image has of its own, 2 or 0. reach2: the square of the maximum distance of a
// shift from the centre of its surface, 0 for any distance; of equivalent periodic shifts, the
// smallest is taken. Work-items go through the rows of the images from number `first` to `end`.
kernel void overlap_score(global const float* surfaces, global const float* overlaps, int each,
                          int width, int height, int first, int end, float min_overlap,
                          float reach2, float2 centre_0, float2 centre_1, global float* scores) {
  const int x = (int)get_global_id(0);
  const int row = (int)get_global_id(1) + first * height;
  if (x >= width || row >= height * end) return;
  const int plane = width * height;
  const int image = row / height;
  const int y = row - image * height;
  const int i = y * width + x;
  surfaces += (size_t)image * 2 * (size_t)plane;
  overlaps += (size_t)image * (size_t)each * (size_t)plane;
  scores += (size_t)image * 2 * (size_t)plane;
#pragma unroll
  for (int mirrored = 0; mirrored < 2; ++mirrored) {
    const float score = wa_overlap_score(surfaces[mirrored * plane + i],
                                         overlaps[mirrored * plane + i], 1.0f / (float)plane,
                                         min_overlap);
    const float2 centre = mirrored ? centre_1 : centre_0;
    bool allowed = true;
    // Searches rarely have a limit, and the distances cost more than the score.
    if (reach2 > 0.0f) {
      allowed = wa_shift_square(wa_shift_distance((float)x, centre.x, (float)width),
                                wa_shift_distance((float)y, centre.y, (float)height)) <= reach2;
    }
    scores[mirrored * plane + i] = allowed ? score : 0.0f;
  }
}
