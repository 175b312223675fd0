// The prefilter along x and y in one kernel, for GPUs (and CPUs without vectors).
//
// A work-group streams along a column block, a range of rows of USEFUL columns of a plane. In each
// iteration it filters the rows of a chunk; each of its work-items then filters the chunk's samples
// of one column along y. Each coefficient is written once; the halos, which are read twice, come
// mostly from the cache. The rows of the next chunk are loaded before the columns of this one are
// filtered, and nothing waits for them earlier.
//
// Options: the pixel's type (lib/pixels.h); EXTENSION; SIDE, the number of columns beyond each end
// of a group's row, a multiple of 4; MAX_COLUMN_BLOCK, the length in chunks of the longest column
// block; and those of lib/prefilter_streaming.h, with ROWS equal to CHUNK / 4.
//
// variant: gpu -DPIXEL_F32 -DEXTENSION=0 -DPOLE_0=(-0.2679492f) -DSTART_0=0.7886751f -DHALO=12 -DCHUNK=12 -DSIDE=12 -DROWS=3 -DMAX_COLUMN_BLOCK=8
// variant: gpu -DPIXEL_U8 -DEXTENSION=4 -DTWO_POLES -DPOLE_0=(-0.4305753f) -DSTART_0=0.6990193f -DPOLE_1=(-0.0430963f) -DSTART_1=0.9586842f -DHALO=24 -DCHUNK=24 -DSIDE=24 -DROWS=6 -DMAX_COLUMN_BLOCK=8
// variant: gpu -DPIXEL_F16 -DEXTENSION=1 -DCONVOLUTION -DCHUNK=8 -DSIDE=8 -DROWS=2 -DMAX_COLUMN_BLOCK=8
// variant: gpu -DPIXEL_F16 -DEXTENSION=1 -DCONVOLUTION -DRUNNING_SUMS -DCHUNK=8 -DSIDE=8 -DROWS=2 -DMAX_COLUMN_BLOCK=8
#include "formulas/boundary.h"
#include "lib/pixels.h"
#include "lib/prefilter_streaming.h"

// The columns of a group's rows whose results are correct.
#define USEFUL (ROW_PIXELS - 2 * SIDE)

// Loads four pixels of a row, each from its position in `columns`; if `row` is null, all are the
// fill value.
WA_INLINE float4 load_pixels(global const Pixel* row, local const int* columns, float cval) {
  float pixels[LANE_PIXELS];
#pragma unroll
  for (int k = 0; k < LANE_PIXELS; ++k) {
    const int at = columns[k];
    pixels[k] = cval;
    if (row != 0 && at >= 0) pixels[k] = LOAD_PIXEL(row, at);
  }
  return (float4)(pixels[0], pixels[1], pixels[2], pixels[3]);
}

// Filters rows of an image that is `width` pixels wide. A single pixel between fill values is
// filtered after subtracting these, because the runs would round the constant around it in the same
// direction every time.
WA_INLINE void filter_image_rows(float4* rows, int width, float cval, float8 taps,
                                 local Exchanged* exchange) {
#if EXTENSION == WA_FILL && !defined(CONVOLUTION)
  const float around = width == 1 ? cval : 0.0f;
#pragma unroll
  for (int i = 0; i < ROWS; ++i) rows[i] -= around;
#endif
  filter_rows(rows, IS_CONSTANT(width), taps, exchange);
#if EXTENSION == WA_FILL && !defined(CONVOLUTION)
#pragma unroll
  for (int i = 0; i < ROWS; ++i) rows[i] += around * OF_CONSTANT;
#endif
}

// Loads a work-item's four pixels of each of its rows; `locations` has the positions of the rows.
// `word` is the pixels' position in a row if they are one word; -1 if `columns` has the position of
// each.
WA_INLINE void load_rows(float4* rows, global const Pixel* plane, int width, int word,
                         local const int* locations, local const int* columns, float cval) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int y = locations[i * GROUP_ROWS];
    if (word >= 0 && y >= 0) {
      rows[i] = LOAD_WORD(plane + (size_t)y * (size_t)width + word);
    } else {
      rows[i] = load_pixels(y < 0 ? 0 : plane + (size_t)y * (size_t)width, columns, cval);
    }
  }
}

// Work-group g processes column block g / across, counted over all planes, and the columns from
// USEFUL * (g % across) on. Every other column block is streamed upwards, so that neighbours reach
// their common edge at the same time and share what they read there. `words`: rows begin at words.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void prefilter_planes(
    global const Pixel* restrict source, global float* restrict target, int width, int height,
    int margin, int column_block, int across, int column_blocks, int words, float cval, float gain,
    float8 taps) {
  local float4 filtered[CHUNK * USEFUL / LANE_PIXELS];
  local Exchanged exchange[EXCHANGE_SIZE];
  local int locations[(MAX_COLUMN_BLOCK + 2) * CHUNK];
  local int columns[ROW_PIXELS];
  const int item = (int)get_local_id(0);
  const int number = (int)get_group_id(0) / across;
  const int left = ((int)get_group_id(0) - number * across) * USEFUL;
  const int plane = number / column_blocks;
  const int column_block_number = number - plane * column_blocks;
  const int wide = width + 2 * margin;
  const int high = height + 2 * margin;
  const int top = column_block_number * column_block;
  const int length = min(column_block, high - top);
  const int chunks = (length + CHUNK - 1) / CHUNK + 2;
  const int step = column_block_number % 2 == 1 ? -1 : 1;
  const int start = step < 0 ? top + length - 1 : top;
  const int leftmost = left - margin - SIDE;
  for (int k = item; k < chunks * CHUNK; k += GROUP) {
    locations[k] = wa_extend(EXTENSION, start - margin + step * (k - CHUNK), height);
  }
  columns[item] = wa_extend(EXTENSION, leftmost + item, width);
  clear_exchange(exchange);
  barrier(CLK_LOCAL_MEM_FENCE);

  const int lane_start = item % ROW_LANES * LANE_PIXELS;
  const int own = lane_start - SIDE;
  const int x = leftmost + lane_start;
  const bool is_word = words != 0 && x >= 0 && x % LANE_PIXELS == 0 && x + LANE_PIXELS <= width;
  const int word = is_word ? x : -1;
  global const Pixel* samples = source + (size_t)plane * (size_t)height * (size_t)width;
  const int rows_of_column = item < USEFUL && left + item < wide ? length : 0;
  const long stride = (long)step * wide;
  global float* at =
      target + ((size_t)plane * (size_t)high + (size_t)start) * (size_t)wide + (left + item);
  float4 rows[ROWS];  // in flight from memory
  Column column;
  start_column(&column);
  load_rows(rows, samples, width, word, locations + item / ROW_LANES, columns + lane_start, cval);
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    filter_image_rows(rows, width, cval, taps,
                      // all work-items pass its barriers after they have taken their columns
                      exchange);
    if (own >= 0 && own < USEFUL) {
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
        filtered[((i * GROUP_ROWS + item / ROW_LANES) * USEFUL + own) / LANE_PIXELS] = rows[i];
      }
    }
    if (chunk + 1 < chunks) {
      load_rows(rows, samples, width, word, locations + (chunk + 1) * CHUNK + item / ROW_LANES,
                columns + lane_start, cval);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < USEFUL) {
      local const float* line = (local const float*)filtered + item;
      float taken[CHUNK], results[CHUNK];
#pragma unroll
      for (int j = 0; j < CHUNK; ++j) taken[j] = line[j * USEFUL];
      advance(&column, chunk, taps, taken, results);
      if (chunk >= 2) {
        store_column(at, stride, rows_of_column - (chunk - 2) * CHUNK, gain, results);
        at += CHUNK * stride;
      }
    }
  }
}
