// The exact prefilter along x, and along x and y in one kernel: rows in registers across a warp.
//
// A warp reads 128 pixels of a row, four a lane, filters them with shuffles and keeps those that
// are a halo away from both ends. For planes, a block of four warps marches down a strip: each turn
// its warps filter the rows of a chunk, which the block's threads then take, one a column, through
// the recursion along y. Each sample is read about 1.4 times (halos, mostly from the L2 cache) and
// each coefficient written once. The next chunk's rows are loaded before this one's columns run.
#pragma once

#include "pixel_load.cuh"
#include "prefilter_axis.cuh"
#include "prefilter_recursion.cuh"

namespace warpalign::cuda {

inline constexpr int block_warps = 4;
inline constexpr int block_threads = block_warps * warp_lanes;

template <int halo>
inline constexpr int useful_pixels = row_pixels - 2 * halo;

// Left alone, the compiler spends twice the registers that the march needs (two chunks of a column
// and the rows on their way) and halves the blocks at work. None of these spills.
template <int halo>
inline constexpr int blocks_a_multiprocessor = halo <= 12 ? 8 : (halo <= 20 ? 5 : 4);

struct Plane {
  int width, height;
  long long depth;
  int strip;   ///< coefficient rows of a strip
  bool words;  ///< whether rows are aligned for loads of four pixels
  float scale;
  Beyond beyond;
};

/// Where a lane's four pixels of every row come from.
struct LaneColumns {
  int at[lane_pixels];  // -1: the fill value
  bool word;            // the four are one aligned word

  __device__ __forceinline__ LaneColumns(const Plane& p, int x) {
    word = p.words && x >= 0 && x % lane_pixels == 0 && x + lane_pixels <= p.width;
#pragma unroll
    for (int k = 0; k < lane_pixels; ++k) at[k] = wa_extend(p.beyond.rule, x + k, p.width);
  }
};

template <class Pixel>
using RowPixels = float[components_of<Pixel>][lane_pixels];

// Four pixels of a row; `row` null: a row of fill values.
template <class Pixel>
__device__ __forceinline__ void load_row(const Pixel* __restrict__ row, const LaneColumns& columns,
                                         float fill, RowPixels<Pixel>& v) {
  constexpr int components = components_of<Pixel>;
  FourPixels<Pixel> four;
  if (row != nullptr && columns.word) {
    four = *reinterpret_cast<const FourPixels<Pixel>*>(row + columns.at[0]);
  }
#pragma unroll
  for (int k = 0; k < lane_pixels; ++k) {
    float pixel[components] = {fill};
    if (row != nullptr && columns.word) {
      to_floats(four.pixel[k], pixel);
    } else if (row != nullptr && columns.at[k] >= 0) {
      to_floats(row[columns.at[k]], pixel);
    }
#pragma unroll
    for (int c = 0; c < components; ++c) v[c][k] = pixel[c];
  }
}

// Rows of a chunk on their way from memory: each warp has every fourth.
template <class Pixel, int halo>
struct ChunkRows {
  static constexpr int rows = halo / block_warps;
  float v[rows][1][lane_pixels];

  __device__ __forceinline__ void load(const Pixel* __restrict__ plane, const Plane& p,
                                       const LaneColumns& columns, int first) {
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const int y = wa_extend(p.beyond.rule, first + i * block_warps + warp, p.height);
      const Pixel* row = y < 0 ? nullptr : plane + static_cast<long long>(y) * p.width;
      load_row<Pixel>(row, columns, p.beyond.fill, v[i]);
    }
  }

  template <int poles>
  __device__ __forceinline__ void filter(const Recursion& r,
                                         float (&chunk)[halo][useful_pixels<halo>]) {
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    const int column = static_cast<int>(threadIdx.x) % warp_lanes * lane_pixels - halo;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      float(&row)[lane_pixels] = v[i][0];
      filter_row<poles>(row, r);
      if (column >= 0 && column < useful_pixels<halo>) {
        *reinterpret_cast<float4*>(&chunk[i * block_warps + warp][column]) =
            make_float4(row[0], row[1], row[2], row[3]);
      }
    }
  }
};

// One strip of one plane; `top` is its first coefficient row.
template <class Pixel, int halo, int poles>
__device__ __forceinline__ void march(const Pixel* __restrict__ plane, float* __restrict__ result,
                                      const Plane& p, const Recursion& r, int top) {
  __shared__ __align__(16) float buffer[2][halo][useful_pixels<halo>];
  const int thread = static_cast<int>(threadIdx.x);
  const int left = static_cast<int>(blockIdx.x) * useful_pixels<halo>;
  const int wide = p.width + 2 * p.beyond.margin;
  const int bottom = min(top + p.strip, p.height + 2 * p.beyond.margin);
  const bool has_column = thread < useful_pixels<halo>;
  const int rows_of_column = has_column && left + thread < wide ? bottom : top;
  const LaneColumns columns(p, left - p.beyond.margin - halo + thread % warp_lanes * lane_pixels);
  const int first = top - p.beyond.margin - halo;
  const int chunks = (bottom - top + halo - 1) / halo + 2;
  const long long row_length = wide;
  float* target = result + top * row_length + left + thread;

  ChunkRows<Pixel, halo> rows;
  ColumnMarch<halo, poles> column{};
  rows.load(plane, p, columns, first);
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    float(&filtered)[halo][useful_pixels<halo>] = buffer[chunk % 2];
    rows.template filter<poles>(r, filtered);
    if (chunk + 1 < chunks) rows.load(plane, p, columns, first + (chunk + 1) * halo);
    __syncthreads();  // the next turn writes the other half, which all have left by then
    if (!has_column) continue;
    // Results come last row first; the pointer walks with them.
    const int rows_left = rows_of_column - (top + (chunk - 2) * halo);
    float* at = target + ((chunk - 1) * halo - 1) * row_length;
    column.advance(
        chunk, r, [&](int j) { return filtered[j][thread]; },
        [&](int j, float value) {
          if (j < rows_left) *at = p.scale * value;
          at -= row_length;
        });
  }
  __syncthreads();  // before another strip takes the buffer
}

template <class Pixel, int halo, int poles>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor<halo>)
    plane_kernel(const Pixel* __restrict__ samples, float* __restrict__ result, Plane p,
                 Recursion r) {
  const int top = static_cast<int>(blockIdx.y) * p.strip;
  const long long wide = p.width + 2 * p.beyond.margin;
  const long long high = p.height + 2 * p.beyond.margin;
  for (long long z = blockIdx.z; z < p.depth; z += gridDim.z) {
    march<Pixel, halo, poles>(samples + z * p.height * p.width, result + z * high * wide, p, r,
                              top);
  }
}

// x alone: a warp takes 128 pixels of one row at a time; here the plane's height counts all rows.
template <class Pixel, int halo, int poles>
__global__ void __launch_bounds__(block_threads)
    row_kernel(const Pixel* __restrict__ samples, float* __restrict__ result, Plane p,
               Recursion r) {
  constexpr int components = components_of<Pixel>;
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int wide = p.width + 2 * p.beyond.margin;
  const int tiles = (wide + useful_pixels<halo> - 1) / useful_pixels<halo>;
  const long long step = static_cast<long long>(gridDim.x) * block_warps;
  long long task = static_cast<long long>(blockIdx.x) * block_warps + threadIdx.x / warp_lanes;
  for (; task < p.depth * tiles; task += step) {  // the same for all lanes of a warp
    const long long y = task / tiles;
    const int left = static_cast<int>(task % tiles) * useful_pixels<halo>;
    const LaneColumns columns(p, left - p.beyond.margin - halo + lane * lane_pixels);
    RowPixels<Pixel> v;
    load_row<Pixel>(samples + y * p.width, columns, p.beyond.fill, v);
#pragma unroll
    for (int c = 0; c < components; ++c) filter_row<poles>(v[c], r);
    const int x = lane * lane_pixels - halo;
    if (x < 0 || x >= useful_pixels<halo>) continue;
#pragma unroll
    for (int k = 0; k < lane_pixels; ++k) {
      if (left + x + k >= wide) break;
#pragma unroll
      for (int c = 0; c < components; ++c) {
        result[(y * wide + left + x + k) * components + c] = p.scale * v[c][k];
      }
    }
  }
}

// One axis of an array in floats, a thread a column, marching down a segment.
template <int halo, int poles>
__global__ void __launch_bounds__(block_threads)
    axis_kernel(const float* __restrict__ source, float* __restrict__ result, AxisPass pass,
                Recursion r, int segment, float scale) {
  const long long inner = static_cast<long long>(blockIdx.x) * block_threads + threadIdx.x;
  if (inner >= pass.inner) return;
  const int length = pass.n + 2 * pass.beyond.margin;
  const int top = static_cast<int>(blockIdx.y) * segment;
  const int bottom = min(top + segment, length);
  const int chunks = (bottom - top + halo - 1) / halo + 2;
  const float fill = fill_value(pass, inner);
  for (long long outer = blockIdx.z; outer < pass.outer; outer += gridDim.z) {
    const float* line = source + outer * pass.n * pass.inner + inner;
    float* target = result + (outer * length + top) * pass.inner + inner;
    ColumnMarch<halo, poles> column{};
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int k = top - pass.beyond.margin + (chunk - 1) * halo;
      const int left = bottom - (top + (chunk - 2) * halo);
      float* at = target + ((chunk - 1) * halo - 1) * pass.inner;
      column.advance(
          chunk, r, [&](int j) { return sample_at(line, pass, k + j, fill); },
          [&](int j, float value) {
            if (j < left) *at = scale * value;
            at -= pass.inner;
          });
    }
  }
}

}  // namespace warpalign::cuda
