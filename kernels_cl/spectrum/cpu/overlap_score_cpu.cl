// Scores of correlation surfaces, for CPUs: like overlap_score in overlap_correlation.cl, with
// sixteen pixels of a row at a time.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/overlap.h"
#include "lib/simd.h"

// A work-item takes a row of one surface and of its mirrored one.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void overlap_score(
    global const float* surfaces, global const float* overlaps, int each, int width, int height,
    int batch, float min_overlap, float reach2, float2 centre_0, float2 centre_1,
    global float* scores) {
  const int plane = width * height;
  const int y = (int)get_global_id(0);
  const size_t image = get_global_id(1);
  if (y >= height || image >= (size_t)batch) return;
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
