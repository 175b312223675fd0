// Loads of four consecutive floats from any location for each of sixteen pixels, for OpenCL kernels
// on CPUs only.
//
// A vector, called a quad, holds the rows of four floats of four pixels. Quad q belongs to the
// pixels q, 4 + q, 8 + q and 12 + q, so that every move stays within four floats, which is fastest
// on CPUs.
#ifndef WARPALIGN_LIB_QUADS_H
#define WARPALIGN_LIB_QUADS_H

#include "lib/simd.h"

// CPUs load a packed structure in one instruction from any address; PoCL's vload4 is two loads.
typedef struct __attribute__((packed)) {
  float4 values;
} Four;

WA_INLINE float4 load_four(global const float* from) { return ((global const Four*)from)->values; }

// The value of each pixel of quad q, repeated four times.
WA_INLINE float16 spread_quad(float16 v, int q) {
  if (q == 0) return v.s000044448888cccc;
  if (q == 1) return v.s111155559999dddd;
  if (q == 2) return v.s22226666aaaaeeee;
  return v.s33337777bbbbffff;
}

WA_INLINE float16 load_quad(global const float* row, const int* at, int q) {
  return (float16)(load_four(row + at[q]), load_four(row + at[4 + q]), load_four(row + at[8 + q]),
                   load_four(row + at[12 + q]));
}

#define LOW_PAIRS(a, b)                                                                         \
  (float16)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5, a.s8, b.s8, a.s9, b.s9, a.sc, b.sc, \
            a.sd, b.sd)
#define HIGH_PAIRS(a, b)                                                                        \
  (float16)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7, a.sa, b.sa, a.sb, b.sb, a.se, b.se, \
            a.sf, b.sf)
// Pairs of floats are moved as one 64-bit number.
#define EVEN_PAIRS(a, b) as_float16((long8)(a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6))
#define ODD_PAIRS(a, b) as_float16((long8)(a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7))

// Transposes the rows of four quads to four columns of sixteen pixels.
WA_INLINE void make_columns(float16* v) {
  const long8 low = as_long8(LOW_PAIRS(v[0], v[1]));
  const long8 high = as_long8(HIGH_PAIRS(v[0], v[1]));
  const long8 more_low = as_long8(LOW_PAIRS(v[2], v[3]));
  const long8 more_high = as_long8(HIGH_PAIRS(v[2], v[3]));
  v[0] = EVEN_PAIRS(low, more_low);
  v[1] = ODD_PAIRS(low, more_low);
  v[2] = EVEN_PAIRS(high, more_high);
  v[3] = ODD_PAIRS(high, more_high);
}

#endif
