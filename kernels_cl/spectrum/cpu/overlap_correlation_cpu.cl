// Products of spectra, for CPUs: like overlap_correlation.cl, with vectors of eight complex
// numbers.
//
// Option: SECOND_CHANNEL, if the images have two channels.
//
// variant: cpu
// variant: cpu -DSECOND_CHANNEL
#include "lib/launch.h"
#include "lib/simd.h"

// A conj(B), and A B, of eight complex numbers each.
typedef struct {
  float16 straight, mirrored;
} Products;

WA_INLINE Products both_products(float16 p, float16 q) {
  const float16 signs = (float16)(1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f,
                                  1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f);
  const float16 re = q.s0022446688aaccee;
  const float16 crossed = p.s1032547698badcfe * q.s1133557799bbddff * signs;
  const Products both = {fma(p, re, crossed), fma(p, re, -crossed)};
  return both;
}

// Writes the products to one slice and the next. Work-item (i, j) processes a run of image j.
SIMD_KERNEL overlap_products(
    global const float2* a, global const float2* b,
#ifdef SECOND_CHANNEL
    global const float2* a_second, global const float2* b_second,
#endif
    int plane, int batch, global float2* products) {
  const int first = (int)get_global_id(0) * WA_OVERLAP_SHARE;
  const size_t image = get_global_id(1);
  if (image >= (size_t)batch) return;
  b += image * (size_t)plane;
#ifdef SECOND_CHANNEL
  b_second += image * (size_t)plane;
#endif
  global float2* straight = products + image * 2 * (size_t)plane;
  global float2* mirrored = straight + plane;
#pragma unroll 1
  for (int i = first; i < min(first + WA_OVERLAP_SHARE, plane); i += 8) {
    const int count = 2 * (plane - i);
    Products both = both_products(load_some((global const float*)(a + i), count),
                                  load_some((global const float*)(b + i), count));
#ifdef SECOND_CHANNEL
    const Products more = both_products(load_some((global const float*)(a_second + i), count),
                                        load_some((global const float*)(b_second + i), count));
    both.straight += more.straight;
    both.mirrored += more.mirrored;
#endif
    store_some(both.straight, count, (global float*)(straight + i));
    store_some(both.mirrored, count, (global float*)(mirrored + i));
  }
}
