// The prefilter along one axis, for GPUs (and CPUs without vectors): rows are filtered across the
// work-items of a work-group, columns are streamed.
//
// The shape of arrays is as in cpu/prefilter_cpu.cl.
//
// Options: the pixel's type (lib/pixels.h); EXTENSION; COMPONENTS; SIDE as in prefilter_planes.cl;
// and those of lib/prefilter_streaming.h, with ROWS equal to COMPONENTS.
//
// variant: gpu -DPIXEL_F32 -DEXTENSION=0 -DPOLE_0=(-0.2679492f) -DSTART_0=0.7886751f -DHALO=12 -DCHUNK=12 -DSIDE=12 -DROWS=1 -DCOMPONENTS=1
// variant: gpu -DPIXEL_F32 -DEXTENSION=4 -DTWO_POLES -DPOLE_0=(-0.4305753f) -DSTART_0=0.6990193f -DPOLE_1=(-0.0430963f) -DSTART_1=0.9586842f -DHALO=24 -DCHUNK=24 -DSIDE=24 -DROWS=2 -DCOMPONENTS=2
// variant: gpu -DPIXEL_F16 -DEXTENSION=1 -DCONVOLUTION -DCHUNK=8 -DSIDE=8 -DROWS=1 -DCOMPONENTS=1
// variant: gpu -DPIXEL_F16 -DEXTENSION=1 -DCONVOLUTION -DRUNNING_SUMS -DCHUNK=8 -DSIDE=8 -DROWS=1 -DCOMPONENTS=1
#include "formulas/boundary.h"
#include "lib/pixels.h"
#include "lib/prefilter_streaming.h"

#define USEFUL (ROW_PIXELS - 2 * SIDE)

// Loads a lane's four pixels from x on; each component is a row for filter_rows(). If `row` is
// null, all are the fill value.
WA_INLINE void load_pixels(global const Pixel* row, int x, int n, float cval, float4* v) {
  int at[LANE_PIXELS];
#pragma unroll
  for (int k = 0; k < LANE_PIXELS; ++k) at[k] = wa_extend(EXTENSION, x + k, n);
#pragma unroll
  for (int c = 0; c < COMPONENTS; ++c) {
    float pixels[LANE_PIXELS];
#pragma unroll
    for (int k = 0; k < LANE_PIXELS; ++k) {
      pixels[k] = c == 0 ? cval : 0.0f;
      if (row != 0 && at[k] >= 0) pixels[k] = LOAD_PIXEL(row, at[k] * COMPONENTS + c);
    }
    v[c] = (float4)(pixels[0], pixels[1], pixels[2], pixels[3]);
  }
}

// The 32 lanes from number 32 i on filter USEFUL coefficients of a row. Each row has `across` such
// pieces. `words`: rows begin at words.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void prefilter_rows(
    global const Pixel* restrict source, global float* restrict target, long outer, int n,
    int margin, int across, int words, float cval, float gain, float8 taps) {
  local Exchanged exchange[EXCHANGE_SIZE];
  const int item = (int)get_local_id(0);
  const int task = (int)get_group_id(0) * GROUP_ROWS + item / ROW_LANES;
  const int y = task / across;
  const int left = (task - y * across) * USEFUL;
  const int own = item % ROW_LANES * LANE_PIXELS - SIDE;
  const int wide = n + 2 * margin;
  const int x = left - margin + own;
  clear_exchange(exchange);
  barrier(CLK_LOCAL_MEM_FENCE);
  global const Pixel* row = y < outer ? source + (size_t)y * (size_t)n * COMPONENTS : 0;
  float4 v[COMPONENTS];
  if (COMPONENTS == 1 && row != 0 && words != 0 && x >= 0 && x % LANE_PIXELS == 0 &&
      x + LANE_PIXELS <= n) {
    v[0] = LOAD_WORD(row + x);
  } else {
    load_pixels(row, x, n, cval, v);
  }
  filter_rows(v, IS_CONSTANT(n), taps, exchange);
  if (row == 0 || own < 0 || own >= USEFUL) return;
  global float* result = target + ((size_t)y * (size_t)wide + (size_t)(left + own)) * COMPONENTS;
  const int count = wide - (left + own);
#pragma unroll
  for (int c = 0; c < COMPONENTS; ++c) {
    const float4 scaled = gain * v[c];
    if (count > 0) result[c] = scaled.x;
    if (count > 1) result[COMPONENTS + c] = scaled.y;
    if (count > 2) result[2 * COMPONENTS + c] = scaled.z;
    if (count > 3) result[3 * COMPONENTS + c] = scaled.w;
  }
}

// Sample k of a column, counted along the axis; k may be any index.
WA_INLINE float sample_at(global const float* line, int k, int n, long inner, float fill_value) {
  const int at = wa_extend(EXTENSION, k, n);
  return at < 0 ? fill_value : line[at * inner];
}

WA_INLINE void load_chunk(float* next, global const float* line, int k, int n, long inner,
                          float fill_value) {
  if (k >= 0 && k + CHUNK <= n) {
    global const float* at = line + k * inner;
#pragma unroll
    for (int j = 0; j < CHUNK; ++j, at += inner) next[j] = *at;
  } else {
#pragma unroll
    for (int j = 0; j < CHUNK; ++j) next[j] = sample_at(line, k + j, n, inner, fill_value);
  }
}

// Each work-item streams along one segment of a column. Work-groups are numbered by the `across`
// groups of neighbouring columns, then by segment, then by plane. The source has floats.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void prefilter_axis(
    global const float* restrict source, global float* restrict target, int n, long inner,
    int margin, int segment, int across, int segments, float cval, float gain, float8 taps) {
  const int number = (int)get_group_id(0) / across;
  const int plane = number / segments;
  const long location =
      (long)((int)get_group_id(0) - number * across) * GROUP + (long)get_local_id(0);
  if (location >= inner) return;
  const int length = n + 2 * margin;
  const int top = (number - plane * segments) * segment;
  const int bottom = min(top + segment, length);
  const int chunks = (bottom - top + CHUNK - 1) / CHUNK + 2;
  const float fill_value = location % COMPONENTS == 0 ? cval : 0.0f;
  global const float* line = source + (size_t)plane * (size_t)n * (size_t)inner + location;
  global float* at =
      target + ((size_t)plane * (size_t)length + (size_t)top) * (size_t)inner + location;
  const int first = top - margin - CHUNK;
  float next[CHUNK];
  Column column;
  start_column(&column);
  load_chunk(next, line, first, n, inner, fill_value);
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    float taken[CHUNK], results[CHUNK];
#pragma unroll
    for (int j = 0; j < CHUNK; ++j) taken[j] = next[j];
    if (chunk + 1 < chunks) {
      load_chunk(next, line, first + (chunk + 1) * CHUNK, n, inner, fill_value);
    }
    advance(&column, chunk, taps, taken, results);
    if (chunk >= 2) {
      store_column(at, inner, bottom - (top + (chunk - 2) * CHUNK), gain, results);
      at += CHUNK * inner;
    }
  }
}
