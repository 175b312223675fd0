// Vectors of sixteen complex numbers, with separate real and imaginary parts, for OpenCL kernels
// only.
#ifndef WARPALIGN_LIB_COMPLEX_SIMD_H
#define WARPALIGN_LIB_COMPLEX_SIMD_H

#include "lib/simd.h"

typedef struct {
  float16 re, im;
} Lanes;

// Loads `count` complex numbers, at most sixteen, whose parts are interleaved in memory.
WA_INLINE Lanes load_lanes(global const float* from, int count) {
  const float16 a = load_some(from, 2 * count);
  const float16 b = load_some(from + 16, 2 * count - 16);
  const Lanes numbers = {(float16)(a.even, b.even), (float16)(a.odd, b.odd)};
  return numbers;
}

WA_INLINE void store_lanes(Lanes numbers, int count, global float* to) {
  float16 a, b;
  a.even = numbers.re.lo;
  a.odd = numbers.im.lo;
  b.even = numbers.re.hi;
  b.odd = numbers.im.hi;
  store_some(a, 2 * count, to);
  store_some(b, 2 * count - 16, to + 16);
}

#endif
