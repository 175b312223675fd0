// The cubic prefilter along one axis, as a convolution with its truncated closed form (Champagnat
// and Le Sant, proposition 1).
//
// A work-item computes VECTOR values that are neighbours in memory. The array's shape is as in
// cpu/prefilter_cpu.cl.
//
// Options: the pixel's type (lib/pixels.h); EXTENSION; REACH, the number of taps on either side;
// COMPONENTS; VECTOR, 16 (CPUs) or 1 (GPUs).
//
// variant: gpu -DPIXEL_F32 -DEXTENSION=0 -DREACH=7 -DCOMPONENTS=1 -DVECTOR=1
// variant: gpu -DPIXEL_U8 -DEXTENSION=4 -DREACH=31 -DCOMPONENTS=2 -DVECTOR=1
// variant: cpu -DPIXEL_F32 -DEXTENSION=0 -DREACH=7 -DCOMPONENTS=1 -DVECTOR=16
#include "formulas/boundary.h"
#include "lib/grid.h"
#include "lib/pixels.h"

#if VECTOR == 16
typedef float16 Vector;
#define LOAD_VECTOR(p) LOAD_16_PIXELS(p)
#define STORE_VECTOR(value, p) vstore16(value, 0, p)
#else
typedef float Vector;
#define LOAD_VECTOR(p) LOAD_PIXEL(p, 0)
#define STORE_VECTOR(value, p) *(p) = (value)
#endif

// Samples are `stride` apart; taps[i] belongs to both neighbours at distance i.
WA_INLINE Vector convolve(global const Pixel* centre, size_t stride, constant float* taps) {
  Vector sum = (Vector)(0.0f);
  for (int i = REACH; i > 0; --i) {  // the smallest first
    sum = fma((Vector)(taps[i]),
              LOAD_VECTOR(centre - i * stride) + LOAD_VECTOR(centre + i * stride), sum);
  }
  return fma((Vector)(taps[0]), LOAD_VECTOR(centre), sum);
}

WA_INLINE float extended(global const Pixel* line, size_t stride, int k, int n, float fill_value) {
  const int at = wa_extend(EXTENSION, k, n);
  return at < 0 ? fill_value : LOAD_PIXEL(line, (size_t)at * stride);
}

// Computes one value whose neighbours may lie beyond the ends of its line.
WA_INLINE float convolve_extended(global const Pixel* line, size_t stride, int k, int n,
                                  constant float* taps, float fill_value) {
  float sum = 0.0f;
  for (int i = REACH; i > 0; --i) {
    sum = fma(
        taps[i],
        extended(line, stride, k - i, n, fill_value) + extended(line, stride, k + i, n, fill_value),
        sum);
  }
  return fma(taps[0], extended(line, stride, k, n, fill_value), sum);
}

WA_INLINE float fill_of(long column, float cval) { return column % COMPONENTS == 0 ? cval : 0.0f; }

// Work-item (i, o) computes the floats from VECTOR * i on of row o; inner is COMPONENTS.
kernel void prefilter_fir_rows(global const Pixel* source, global float* target, long outer, int n,
                               long inner, int margin, float cval, constant float* taps) {
  const int floats = (n + 2 * margin) * COMPONENTS;
  const Item item = patch_item((floats + VECTOR - 1) / VECTOR);
  const int first = item.x * VECTOR;
  const long row = item.y;
  if (first >= floats || row >= outer) return;
  global const Pixel* line = source + (size_t)row * (size_t)n * COMPONENTS;
  global float* result = target + (size_t)row * (size_t)floats;
  const int shift = margin * COMPONENTS;
  const int reach = REACH * COMPONENTS;
  if (first - shift >= reach && first - shift + VECTOR + reach <= n * COMPONENTS) {
    STORE_VECTOR(convolve(line + (first - shift), COMPONENTS, taps), result + first);
    return;
  }
  for (int i = first; i < min(first + VECTOR, floats); ++i) {
    const int component = i % COMPONENTS;
    result[i] = convolve_extended(line + component, COMPONENTS, i / COMPONENTS - margin, n, taps,
                                  fill_of(component, cval));
  }
}

// Work-item (i, j) computes the floats from VECTOR * i on of row j of the results of all planes.
kernel void prefilter_fir_columns(global const Pixel* source, global float* target, long outer,
                                  int n, long inner, int margin, float cval, constant float* taps) {
  const int out = n + 2 * margin;
  const Item item = patch_item((int)((inner + VECTOR - 1) / VECTOR));
  const long first = (long)item.x * VECTOR;
  const long row = item.y;
  const long plane = row / out;
  const int k = (int)(row % out) - margin;
  if (first >= inner || plane >= outer) return;
  global const Pixel* lines = source + (size_t)plane * (size_t)n * (size_t)inner;
  global float* result = target + (size_t)row * (size_t)inner;
  if (k >= REACH && k + REACH < n && first + VECTOR <= inner) {
    STORE_VECTOR(convolve(lines + (size_t)k * (size_t)inner + first, (size_t)inner, taps),
                 result + first);
    return;
  }
  for (long i = first; i < min(first + VECTOR, inner); ++i) {
    result[i] = convolve_extended(lines + i, (size_t)inner, k, n, taps, fill_of(i, cval));
  }
}
