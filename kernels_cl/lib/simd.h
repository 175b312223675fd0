// Vectors of sixteen numbers, loaded and stored whole or in part, for OpenCL kernels only.
#ifndef WARPALIGN_LIB_SIMD_H
#define WARPALIGN_LIB_SIMD_H

#include "formulas/language.h"
#include "lib/simd_kernel.h"

#define NUMBERS ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

// Loads `count` floats, at most sixteen; the others are 0.
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

// Begins to load the numbers around an address, which may lie outside of all arrays.
WA_INLINE void fetch_ahead(global const float* from) {
#if defined(__clang__)
  __builtin_prefetch((const void*)(size_t)from);
#else
  prefetch(from, 1);
#endif
}

WA_INLINE float16 gather(global const float* from, int16 at) {
  return (float16)(from[at.s0], from[at.s1], from[at.s2], from[at.s3], from[at.s4], from[at.s5],
                   from[at.s6], from[at.s7], from[at.s8], from[at.s9], from[at.sa], from[at.sb],
                   from[at.sc], from[at.sd], from[at.se], from[at.sf]);
}

// Whether all tests, each 0 or -1, are true. Some compilers implement all() by testing one vector
// lane after the other.
WA_INLINE bool are_all(int16 tests) {
  const int8 eight = tests.lo & tests.hi;
  const int4 four = eight.lo & eight.hi;
  const int2 two = four.lo & four.hi;
  return (two.x & two.y) != 0;
}

// The values in the lanes where `wanted` is set; 0 in the others, even if they hold NaN.
WA_INLINE float16 only(float16 v, int16 wanted) { return select((float16)(0.0f), v, wanted); }

WA_INLINE float sum_of_lanes(float16 v) {
  const float8 eight = v.lo + v.hi;
  const float4 four = eight.lo + eight.hi;
  const float2 two = four.lo + four.hi;
  return two.x + two.y;
}

// Transposes the block: four times, it interleaves the block's halves, which rotates the eight bits
// of an element's index by four.
WA_INLINE void transpose(float16* block) {
  float16 mixed[16];
#pragma unroll 1
  for (int stage = 0; stage < 4; ++stage) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float16 a = block[i];
      const float16 b = block[i + 8];
      mixed[2 * i].even = a.lo;
      mixed[2 * i].odd = b.lo;
      mixed[2 * i + 1].even = a.hi;
      mixed[2 * i + 1].odd = b.hi;
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) block[i] = mixed[i];
  }
}

#endif
