// The double-angle representation of an image's gradient, for CPUs: like double_angle.cl, with
// sixteen pixels of a row at a time.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/double_angle.h"
#include "lib/simd.h"

WA_INLINE int16 counts(global const float* weight, int count) {
  return load_some(weight, count) >= WA_DOUBLE_ANGLE_MIN_WEIGHT;
}

// Work-item (y, j) processes a row of slice first_slice + j. Loads beyond a row's ends come from
// the rows above and below; the kernel discards what is computed from them.
SIMD_KERNEL double_angle(
    global const float* input, global const float* weight, int width, int height, int first_slice,
    float epsilon, global const WaDoubleAngleTerms* terms, global float* cosines, global float* sines) {
  const int y = (int)get_global_id(0);
  const int slice = (int)get_global_id(1);
  const WaDoubleAngleTerms of_slice = terms[slice];
  const size_t row = ((size_t)(first_slice + slice) * (size_t)height + (size_t)y) * (size_t)width;
  const bool inside = y > 0 && y < height - 1;
#pragma unroll 1
  for (int x = 0; x < width; x += 16) {
    const int count = min(16, width - x);
    float16 cosine = 0.0f, sine = 0.0f;
    int16 found = 0;
    if (inside) found = counts(weight + row + x, count);
    if (!are_all(~found)) {
      global const float* w = weight + row + x;
      global const float* at = input + row + x;
      const int16 column = NUMBERS + x;
      found &= column > 0 && column < width - 1;
      found &= counts(w - 1, count) & counts(w + 1, count);
      found &= counts(w - width, count) & counts(w + width, count);
      wa_double_angle(load_some(at + 1, count) - load_some(at - 1, count),
                      load_some(at + width, count) - load_some(at - width, count), epsilon,
                      of_slice, &cosine, &sine);
    }
    store_some(only(cosine, found), count, cosines + row + x);
    store_some(only(sine, found), count, sines + row + x);
  }
}
