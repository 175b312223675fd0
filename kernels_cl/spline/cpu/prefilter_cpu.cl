// The exact B-spline prefilter for CPUs: sixteen lines at a time, one in each lane of a vector.
//
// A work-item filters a segment of its lines with a halo on both sides, over which the recursions
// forget their start (see lib/prefilter_streaming.h). To bring rows into lanes, it transposes
// blocks of 16 x 16 samples: if it read 16 rows sample by sample, they would compete for the same
// cache lines.
//
// An array has the shape [outer][n][inner] and is filtered along its middle axis; the target has
// `margin` more values at either end of it. For rows, inner = COMPONENTS (2 for complex numbers,
// otherwise 1).
//
// Options: the pixel's type (lib/pixels.h); EXTENSION; HALO; SEGMENT, the number of coefficients of
// a work-item, a multiple of 16 minus 2 HALO; POLE_0, and with TWO_POLES also POLE_1; COMPONENTS.
//
// variant: cpu -DPIXEL_F32 -DEXTENSION=0 -DHALO=13 -DSEGMENT=102 -DPOLE_0=(-0.2679492f) -DCOMPONENTS=1
// variant: cpu -DPIXEL_U8 -DEXTENSION=2 -DHALO=20 -DSEGMENT=88 -DPOLE_0=(-0.4305753f) -DTWO_POLES -DPOLE_1=(-0.0430963f) -DCOMPONENTS=2
#include "formulas/boundary.h"
#include "lib/launch.h"
#include "lib/pixels.h"
#include "lib/simd.h"

#define LENGTH (SEGMENT + 2 * HALO)
// The number of adjacent vectors in a column pass: two recursions hide each other's latency.
#define VECTORS WA_PREFILTER_VECTORS

// Applies the steps of formulas/bspline.h to sixteen lines.
WA_INLINE void filter_pole(float16* line, int n, int width, float z) {
  const int last = (n - 1) * width;
  for (int i = 0; i < width; ++i) line[i] /= 1.0f - z;
  for (int i = width; i < n * width; ++i) line[i] = fma((float16)(z), line[i - width], line[i]);
  for (int i = last; i < n * width; ++i) line[i] /= 1.0f - z;
  for (int i = last - 1; i >= 0; --i) line[i] = fma((float16)(z), line[i + width], line[i]);
}

WA_INLINE void filter(float16* line, int n, int width) {
  filter_pole(line, n, width, POLE_0);
#ifdef TWO_POLES
  filter_pole(line, n, width, POLE_1);
#endif
}

WA_INLINE float fill_of(long component, float cval) {
  return component % COMPONENTS == 0 ? cval : 0.0f;
}

// Loads sixteen samples of a row from `first` on; `row` points at the row's first sample.
WA_INLINE float16 row_samples(global const Pixel* row, int first, int n, float fill_value) {
#if COMPONENTS == 1
  if (first >= 0 && first + 16 <= n) return LOAD_16_PIXELS(row + first);
#endif
  float values[16];
  for (int i = 0; i < 16; ++i) {
    const int at = wa_extend(EXTENSION, first + i, n);
    values[i] = at < 0 ? fill_value : LOAD_PIXEL(row, (size_t)at * COMPONENTS);
  }
  return vload16(0, values);
}

WA_INLINE void store_row(global float* row, int first, int from, int to, float16 values) {
#if COMPONENTS == 1
  if (from == 0 && to == 16) {
    vstore16(values, 0, row + first);
    return;
  }
#endif
  float each[16];
  vstore16(values, 0, each);
  for (int i = from; i < to; ++i) row[(size_t)(first + i) * COMPONENTS] = each[i];
}

// Work-item (s, b) filters segment s of the 16 rows (of components) from 16 b on.
kernel SIMD_HINT void prefilter_rows(global const Pixel* source, global float* target, long outer,
                                     int n, long inner, int margin, float cval, float gain) {
  const int out = n + 2 * margin;
  const int start = (int)get_global_id(0) * SEGMENT;
  const int count = min(SEGMENT, out - start);
  const long first_lane = (long)get_global_id(1) * 16;
  const long last_lane = outer * COMPONENTS - 1;
  if (count <= 0 || first_lane > last_lane) return;
  const int length = count + 2 * HALO;
  float16 line[LENGTH + 15];
  for (int k = 0; k < length; k += 16) {
#pragma unroll 1
    for (int r = 0; r < 16; ++r) {
      const long lane = min(first_lane + r, last_lane);
      const size_t row = (size_t)(lane / COMPONENTS) * (size_t)n * COMPONENTS;
      line[k + r] = row_samples(source + row + lane % COMPONENTS, start - margin - HALO + k, n,
                                fill_of(lane, cval));
    }
    transpose(line + k);
  }
  filter(line, length, 1);
  for (int k = 0; k < count; k += 16) {
    float16 block[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) block[r] = gain * line[HALO + k + r];
    transpose(block);
#pragma unroll 1
    for (int r = 0; r < 16 && first_lane + r <= last_lane; ++r) {
      const long lane = first_lane + r;
      const size_t row = (size_t)(lane / COMPONENTS) * (size_t)out * COMPONENTS;
      store_row(target + row + lane % COMPONENTS, start + k, 0, min(16, count - k), block[r]);
    }
  }
}

WA_INLINE float16 column_samples(global const Pixel* row, long column, long inner) {
  if (column + 16 <= inner) return LOAD_16_PIXELS(row + column);
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = LOAD_PIXEL(row, (size_t)min(column + i, inner - 1));
  return vload16(0, values);
}

WA_INLINE float16 fill_columns(float cval) {
  const float odd = fill_of(1, cval);
  return (float16)(cval, odd, cval, odd, cval, odd, cval, odd, cval, odd, cval, odd, cval, odd,
                   cval, odd);
}

WA_INLINE void store_columns(global float* row, long column, long inner, float16 values) {
  if (column + 16 <= inner) {
    vstore16(values, 0, row + column);
    return;
  }
  float each[16];
  vstore16(values, 0, each);
  for (int i = 0; column + i < inner; ++i) row[column + i] = each[i];
}

// Work-item (c, j) filters the columns from 16 VECTORS c on, in segment j % segments of plane j /
// segments.
kernel SIMD_HINT void prefilter_columns(global const Pixel* source, global float* target,
                                        long outer, int n, long inner, int margin, float cval,
                                        float gain) {
  const int out = n + 2 * margin;
  const int segments = (out + SEGMENT - 1) / SEGMENT;
  const long column = (long)get_global_id(0) * (16 * VECTORS);
  const int start = ((int)get_global_id(1) % segments) * SEGMENT;
  const long plane = (long)get_global_id(1) / segments;
  const int count = min(SEGMENT, out - start);
  if (column >= inner || plane >= outer) return;
  const int length = count + 2 * HALO;
  float16 line[LENGTH * VECTORS];
  for (int k = 0; k < length; ++k) {
    const int at = wa_extend(EXTENSION, start - margin - HALO + k, n);
    global const Pixel* row = source + (size_t)(plane * n + max(at, 0)) * (size_t)inner;
    for (int v = 0; v < VECTORS; ++v) {
      line[k * VECTORS + v] =
          at < 0 ? fill_columns(cval) : column_samples(row, column + 16 * v, inner);
    }
  }
  filter(line, length, VECTORS);
  for (int k = 0; k < count; ++k) {
    global float* row = target + (size_t)(plane * out + start + k) * (size_t)inner;
    for (int v = 0; v < VECTORS; ++v) {
      store_columns(row, column + 16 * v, inner, gain * line[(HALO + k) * VECTORS + v]);
    }
  }
}
