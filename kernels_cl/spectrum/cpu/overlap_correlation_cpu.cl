// Products of spectra and scores of correlation surfaces, for CPUs: like overlap_correlation.cl, with
// vectors of eight complex numbers or sixteen pixels.
//
// Option: SECOND_CHANNEL, where the images that are correlated have two channels.
//
// variant: cpu
// variant: cpu -DSECOND_CHANNEL
#define WA_REAL float16
#include "formulas/overlap.h"
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

// Writes them to one slice of the products and the next. Work-item (i, j) takes a run of image j.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void overlap_products(
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

// A work-item takes a row of one surface and of its mirrored one, of an image from number `first` to
// `end`.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void overlap_score(
    global const float* surfaces, global const float* overlaps, int each, int width, int height,
    int first, int end, float min_overlap, float reach2, float2 centre_0, float2 centre_1,
    global float* scores) {
  const int plane = width * height;
  const int y = (int)get_global_id(0);
  const size_t image = get_global_id(1) + (size_t)first;
  if (y >= height || image >= (size_t)end) return;
  const float normalization = 1.0f / (float)plane;
#pragma unroll 1
  for (int mirrored = 0; mirrored < 2; ++mirrored) {
    const size_t row = (size_t)mirrored * (size_t)plane + (size_t)(y * width);
    global const float* c = surfaces + image * 2 * (size_t)plane + row;
    global const float* n = overlaps + image * (size_t)each * (size_t)plane + row;
    global float* to = scores + image * 2 * (size_t)plane + row;
    const float2 centre = mirrored ? centre_1 : centre_0;
    const float16 dy = wa_shift_distance((float16)((float)y), centre.y, (float)height);
#pragma unroll 1
    for (int x = 0; x < width; x += 16) {
      const int count = width - x;
      const float16 overlap = load_some(n + x, count);
      // Many shifts leave too little in common, and the root and the division are what takes long.
      if (are_all(overlap * normalization < min_overlap)) {
        store_some((float16)(0.0f), count, to + x);
        continue;
      }
      float16 score =
          wa_overlap_score(load_some(c + x, count), overlap, normalization, min_overlap);
      if (reach2 > 0.0f) {
        const float16 dx = wa_shift_distance(convert_float16(NUMBERS + x), centre.x, (float)width);
        score = only(score, wa_shift_square(dx, dy) <= reach2);
      }
      store_some(score, count, to + x);
    }
  }
}
