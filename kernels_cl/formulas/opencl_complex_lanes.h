// Sixteen complex numbers in vectors, real and imaginary parts apart, for OpenCL kernels alone.
#ifndef WARPALIGN_FORMULAS_OPENCL_COMPLEX_LANES_H
#define WARPALIGN_FORMULAS_OPENCL_COMPLEX_LANES_H

#include "formulas/language.h"

typedef struct {
  float16 re, im;
} Lanes;

// `count` floats of at most sixteen; the others are 0.
WA_INLINE float16 load_some(global const float* from, int count) {
  if (count >= 16) return vload16(0, from);
  float16 values = 0.0f;
#pragma unroll 1
  for (int i = 0; i < count; ++i) ((float*)&values)[i] = from[i];
  return values;
}

WA_INLINE void store_some(float16 values, int count, global float* to) {
  if (count >= 16) {
    vstore16(values, 0, to);
    return;
  }
#pragma unroll 1
  for (int i = 0; i < count; ++i) to[i] = ((const float*)&values)[i];
}

// `count` complex numbers of at most sixteen, side by side in memory.
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
