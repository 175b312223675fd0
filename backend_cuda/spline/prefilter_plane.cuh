// A prefilter along x, and along x and y in one kernel: rows are held in registers across a warp.
//
// A warp reads as many pixels of a row as its 32 lanes hold, filters them with shuffles and keeps
// those that are far enough from both ends. For planes, a block streams down a column block: in
// each iteration its warps filter the rows of a chunk, and the block's threads, one per column,
// then run the filter along y over that chunk. Each coefficient is written once; the halos, which
// are read twice, come mostly from the L2 cache. The loads of the next chunk's rows are issued
// before the columns of the current chunk are filtered, so nothing may wait for them before that is
// done.
#pragma once

#include "device/dependent_launch.cuh"
#include "device/pixel_load.cuh"
#include "spline/prefilter_axis.cuh"
#include "spline/prefilter_recursion.cuh"

namespace warpalign::cuda {

struct Plane {
  int width, height;
  long long depth;
  int column_block;  ///< rows of coefficients in a column block
  bool words;        ///< whether rows are aligned for loads of four pixels
  float scale;
  Beyond beyond;
};

template <class Pixel>
using RowPixels = float[components_of<Pixel>][lane_pixels];

// Loads four pixels that form one aligned word.
template <class Pixel>
__device__ __forceinline__ void load_word(const Pixel* __restrict__ at, RowPixels<Pixel>& v) {
  constexpr int components = components_of<Pixel>;
  const auto four = *reinterpret_cast<const FourPixels<Pixel>*>(at);
#pragma unroll
  for (int k = 0; k < lane_pixels; ++k) {
    float pixel[components];
    to_floats(four.pixel[k], pixel);
#pragma unroll
    for (int c = 0; c < components; ++c) v[c][k] = pixel[c];
  }
}

// Loads four pixels of a row, pixel k from column(k); -1 stands for the fill value.
template <class Pixel, class Column>
__device__ __forceinline__ void load_pixels(const Pixel* __restrict__ row, float fill,
                                            Column column, RowPixels<Pixel>& v) {
  constexpr int components = components_of<Pixel>;
#pragma unroll
  for (int k = 0; k < lane_pixels; ++k) {
    const int at = column(k);
    float pixel[components] = {fill};
    if (at >= 0) to_floats(row[at], pixel);
#pragma unroll
    for (int c = 0; c < components; ++c) v[c][k] = pixel[c];
  }
}

/// Whether the four pixels from x on form an aligned word in every row.
__device__ __forceinline__ bool is_inside(const Plane& p, int x) {
  return p.words && x >= 0 && x % lane_pixels == 0 && x + lane_pixels <= p.width;
}

inline constexpr int block_warps = 4;
inline constexpr int block_threads = block_warps * warp_lanes;  // one per column, with halos
inline constexpr int max_column_block = 8;                      // in chunks

/// The columns of a block's rows that are correct after filtering.
template <class Filter>
inline constexpr int useful_columns = row_pixels - 2 * Filter::side;

/// The positions of the samples of a column block: row k of the stream, column i of the block; -1
/// stands for the fill value.
template <class Filter>
struct ColumnBlockMap {
  int row[(max_column_block + 2) * Filter::chunk];
  int column[row_pixels];
};

// Stores results `stride` floats apart, the first `count` of them.
template <int maximum>
__device__ __forceinline__ void store_column(float* at, long long stride, int count, float scale,
                                             const float (&results)[maximum]) {
  if (count >= maximum) {
#pragma unroll
    for (int j = 0; j < maximum; ++j, at += stride) *at = scale * results[j];
  } else {
#pragma unroll
    for (int j = 0; j < maximum; ++j, at += stride) {
      if (j < count) *at = scale * results[j];
    }
  }
}

// Filters one column block of one plane, the rows of coefficients from `top` on. Every other column
// block is streamed upwards, so that neighbours reach their common edge at the same time and share
// through the cache what they read there.
template <class Pixel, class Filter>
__device__ __forceinline__ void stream_columns(const Pixel* __restrict__ plane,
                                               float* __restrict__ result, const Plane& p,
                                               const typename Filter::Coefficients& coefficients,
                                               int top, bool upwards) {
  constexpr int useful = useful_columns<Filter>;
  constexpr int chunk_rows = Filter::chunk;
  constexpr int rows_per_warp = chunk_rows / block_warps;
  static_assert(rows_per_warp * block_warps == chunk_rows && Filter::side % lane_pixels == 0);
  __shared__ __align__(16) float buffer[2][chunk_rows][useful];
  __shared__ ColumnBlockMap<Filter> map;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_lanes;
  const int left = static_cast<int>(blockIdx.x) * useful;
  const int leftmost = left - p.beyond.margin - Filter::side;
  const int wide = p.width + 2 * p.beyond.margin;
  const int length = min(p.column_block, p.height + 2 * p.beyond.margin - top);
  const int chunks = (length + chunk_rows - 1) / chunk_rows + 2;
  const int lane_start = thread % warp_lanes * lane_pixels;
  const int own = lane_start - Filter::side;  // first column of the lane
  const bool inside = is_inside(p, leftmost + lane_start);
  const int step = upwards ? -1 : 1;
  const int start = upwards ? top + length - 1 : top;
  const int first = start - p.beyond.margin - step * chunk_rows;
  for (int k = thread; k < chunks * chunk_rows; k += block_threads) {
    map.row[k] = wa_extend(p.beyond.rule, first + step * k, p.height);
  }
  map.column[thread] = wa_extend(p.beyond.rule, leftmost + thread, p.width);
  __syncthreads();

  RowPixels<Pixel> rows[rows_per_warp];  // being loaded from memory
  const auto load_chunk = [&](int chunk) {
    const int* locations = map.row + chunk * chunk_rows + warp;
#pragma unroll
    for (int i = 0; i < rows_per_warp; ++i) {
      const int y = locations[i * block_warps];
      const Pixel* row = plane + static_cast<long long>(y) * p.width;
      if (inside && y >= 0) {
        load_word<Pixel>(row + leftmost + lane_start, rows[i]);
      } else {
        load_pixels<Pixel>(
            row, p.beyond.fill, [&](int k) { return y < 0 ? -1 : map.column[lane_start + k]; },
            rows[i]);
      }
    }
  };
  const bool has_column = thread < useful;
  const int rows_of_column = has_column && left + thread < wide ? length : 0;
  const long long stride = static_cast<long long>(step) * wide;
  float* target = result + static_cast<long long>(start) * wide + left + thread;
  typename Filter::Column column{};
  load_chunk(0);
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    float(&filtered)[chunk_rows][useful] = buffer[chunk % 2];
#pragma unroll
    for (int i = 0; i < rows_per_warp; ++i) {
      float(&row)[lane_pixels] = rows[i][0];
      Filter::filter_row(row, coefficients);
      if (own < 0 || own >= useful) continue;
      *reinterpret_cast<float4*>(&filtered[i * block_warps + warp][own]) =
          make_float4(row[0], row[1], row[2], row[3]);
    }
    if (chunk + 1 < chunks) load_chunk(chunk + 1);
    __syncthreads();  // all threads are done with the other half, which the next iteration writes
    if (!has_column) continue;
    float samples[chunk_rows];
    float results[chunk_rows];
#pragma unroll
    for (int j = 0; j < chunk_rows; ++j) samples[j] = filtered[j][thread];
    column.advance(chunk, coefficients, samples, results);
    if (chunk < 2) continue;
    store_column(target, stride, rows_of_column - (chunk - 2) * chunk_rows, p.scale, results);
    target += chunk_rows * stride;
  }
  __syncthreads();  // before another column block uses the buffers
}

template <class Pixel, class Filter>
__global__ void __launch_bounds__(block_threads, Filter::blocks_per_multiprocessor)
    plane_kernel(const Pixel* __restrict__ samples, float* __restrict__ result, Plane p,
                 typename Filter::Coefficients coefficients) {
  wait_for_previous_kernel();
  const long long wide = p.width + 2 * p.beyond.margin;
  const long long high = p.height + 2 * p.beyond.margin;
  const int column_blocks = static_cast<int>((high + p.column_block - 1) / p.column_block);
  for (long long z = blockIdx.z; z < p.depth; z += gridDim.z) {
    for (int column_block = static_cast<int>(blockIdx.y); column_block < column_blocks;
         column_block += gridDim.y) {
      stream_columns<Pixel, Filter>(samples + z * p.height * p.width, result + z * high * wide, p,
                                    coefficients, column_block * p.column_block,
                                    column_block % 2 == 1);
    }
  }
}

// Filters along x only: a warp processes 128 pixels of one row at a time. Here the plane's depth
// counts all rows.
template <class Pixel, class Filter>
__global__ void __launch_bounds__(block_threads)
    row_kernel(const Pixel* __restrict__ samples, float* __restrict__ result, Plane p,
               typename Filter::Coefficients coefficients) {
  wait_for_previous_kernel();
  constexpr int components = components_of<Pixel>;
  constexpr int useful = useful_columns<Filter>;
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int wide = p.width + 2 * p.beyond.margin;
  const int tiles = (wide + useful - 1) / useful;
  const long long step = static_cast<long long>(gridDim.x) * block_warps;
  long long task = static_cast<long long>(blockIdx.x) * block_warps + threadIdx.x / warp_lanes;
  for (; task < p.depth * tiles; task += step) {  // the same iterations for all lanes of a warp
    const long long y = task / tiles;
    const int left = static_cast<int>(task % tiles) * useful;
    const int own = lane * lane_pixels - Filter::side;
    const int x = left - p.beyond.margin + own;
    RowPixels<Pixel> v;
    const Pixel* row = samples + y * p.width;
    if (is_inside(p, x)) {
      load_word<Pixel>(row + x, v);
    } else {
      load_pixels<Pixel>(
          row, p.beyond.fill, [&](int k) { return wa_extend(p.beyond.rule, x + k, p.width); }, v);
    }
#pragma unroll
    for (int c = 0; c < components; ++c) Filter::filter_row(v[c], coefficients);
    if (own < 0 || own >= useful) continue;
#pragma unroll
    for (int k = 0; k < lane_pixels; ++k) {
      if (left + own + k >= wide) break;
#pragma unroll
      for (int c = 0; c < components; ++c) {
        result[(y * wide + left + own + k) * components + c] = p.scale * v[c][k];
      }
    }
  }
}

// Filters one axis of an array of floats; each thread streams down one column of a segment.
template <class Filter>
__global__ void __launch_bounds__(block_threads, Filter::axis_blocks_per_multiprocessor)
    axis_kernel(const float* __restrict__ source, float* __restrict__ result, AxisPass pass,
                typename Filter::Coefficients coefficients, int segment, float scale) {
  wait_for_previous_kernel();
  constexpr int chunk_length = Filter::chunk;
  const long long inner = static_cast<long long>(blockIdx.x) * block_threads + threadIdx.x;
  if (inner >= pass.inner) return;
  const int length = pass.n + 2 * pass.beyond.margin;
  const int top = static_cast<int>(blockIdx.y) * segment;
  const int bottom = min(top + segment, length);
  const int chunks = (bottom - top + chunk_length - 1) / chunk_length + 2;
  const float fill = fill_value(pass, inner);
  for (long long outer = blockIdx.z; outer < pass.outer; outer += gridDim.z) {
    const float* line = source + outer * pass.n * pass.inner + inner;
    float* target = result + (outer * length + top) * pass.inner + inner;
    const int first = top - pass.beyond.margin - chunk_length;
    float next[chunk_length];
    const auto load_chunk = [&](int chunk) {
      const int k = first + chunk * chunk_length;
      if (k >= 0 && k + chunk_length <= pass.n) {
        const float* at = line + k * pass.inner;
#pragma unroll
        for (int j = 0; j < chunk_length; ++j, at += pass.inner) next[j] = *at;
      } else {
#pragma unroll
        for (int j = 0; j < chunk_length; ++j) next[j] = sample_at(line, pass, k + j, fill);
      }
    };
    typename Filter::Column column{};
    load_chunk(0);
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      float samples[chunk_length];
      float results[chunk_length];
#pragma unroll
      for (int j = 0; j < chunk_length; ++j) samples[j] = next[j];
      if (chunk + 1 < chunks) load_chunk(chunk + 1);
      column.advance(chunk, coefficients, samples, results);
      if (chunk < 2) continue;
      store_column(target, pass.inner, bottom - (top + (chunk - 2) * chunk_length), scale, results);
      target += chunk_length * pass.inner;
    }
  }
}

}  // namespace warpalign::cuda
