// Products of descriptors by tensor cores, and the best one of each slice.
//
// A float equals the sum of two half-precision numbers to within 2^-22 of its value, or 2^-25 of
// the length of a descriptor, which is 1. Three products of these numbers, summed in single
// precision, equal a product of floats to that accuracy: the fourth is smaller than the error
// (Ootomo and Yokota 2022, "Recovering single precision accuracy from Tensor Cores while surpassing
// the FP32 theoretical peak performance").
#pragma once

#include "device/dependent_launch.cuh"

#include "shared/nearest_feature.h"

#include <cuda_fp16.h>

#include <cstdint>

namespace warpalign::cuda {

/// The compute capability that the kernel below needs.
inline constexpr int slice_products_capability = 8;

namespace slice_products {

// A block compares a tile of features of each image. Along the reference it has four warps with 32
// features each, along the moving image two warps with a slice each.
inline constexpr int tile = WA_FEATURES_OF_TILE;
inline constexpr int rows_of_warp = 32;
inline constexpr int warps_along_rows = tile / rows_of_warp;
inline constexpr int threads = 32 * warps_along_rows * (tile / SLICE);
// The number of values of each descriptor that are in shared memory at once, and the words of a row
// of them, two values each: threads that read neighbouring rows use different banks.
inline constexpr int depth = 32;
inline constexpr int row_words = depth / 2 + 4;
// Loads of four values that a thread makes for each tile.
inline constexpr int loads = tile * depth / 4 / threads;

static_assert(tile % rows_of_warp == 0 && tile % SLICE == 0 && DIMENSIONS % depth == 0);

/// The values of a tile as two half-precision numbers each, two values per word.
struct Halves {
  std::uint32_t high[tile][row_words];
  std::uint32_t low[tile][row_words];
};

/// The values of a tile that a thread has loaded but not yet stored.
struct Loaded {
  float4 values[loads];
};

__device__ __forceinline__ std::uint32_t word_of(__half2 pair) {
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

__device__ __forceinline__ int row_of(int load) {
  return (load * threads + static_cast<int>(threadIdx.x)) / (depth / 4);
}
__device__ __forceinline__ int column_of(int load) {
  return 4 * ((load * threads + static_cast<int>(threadIdx.x)) % (depth / 4));
}

// Rows beyond the last feature are zeros.
__device__ __forceinline__ Loaded load_tile(const float* __restrict__ descriptors, int first,
                                            int count, int from) {
  Loaded loaded;
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const int row = first + row_of(i);
    const long long at = static_cast<long long>(row) * DIMENSIONS + from + column_of(i);
    loaded.values[i] = row < count ? __ldg(reinterpret_cast<const float4*>(descriptors + at))
                                   : float4{0.0F, 0.0F, 0.0F, 0.0F};
  }
  return loaded;
}

__device__ __forceinline__ void store_pair(float x, float y, std::uint32_t& high,
                                           std::uint32_t& low) {
  const __half2 rounded = __floats2half2_rn(x, y);
  const float2 back = __half22float2(rounded);
  high = word_of(rounded);
  low = word_of(__floats2half2_rn(x - back.x, y - back.y));
}

__device__ __forceinline__ void store_tile(const Loaded& loaded, Halves& halves) {
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const float4 v = loaded.values[i];
    const int row = row_of(i);
    const int word = column_of(i) / 2;
    store_pair(v.x, v.y, halves.high[row][word], halves.low[row][word]);
    store_pair(v.z, v.w, halves.high[row][word + 1], halves.low[row][word + 1]);
  }
}

/// sums += a b, of 16 x 16 and 16 x 8 values, distributed over a warp as mma.sync requires.
__device__ __forceinline__ void multiply_add(float (&sums)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// A warp has eight groups of four threads. Thread t of a group holds words t and t + 4 of eight: of
// the rows of its group, and of the rows eight further on.
__device__ __forceinline__ void rows_from(const std::uint32_t (&words)[tile][row_words], int row,
                                          int word, std::uint32_t (&a)[4]) {
  a[0] = words[row][word];
  a[1] = words[row + 8][word];
  a[2] = words[row][word + 4];
  a[3] = words[row + 8][word + 4];
}
__device__ __forceinline__ void columns_from(const std::uint32_t (&words)[tile][row_words], int row,
                                             int word, std::uint32_t (&b)[2]) {
  b[0] = words[row][word];
  b[1] = words[row][word + 4];
}

/// The products of a warp's 32 features with those of a slice.
using Products = float[rows_of_warp / 16][SLICE / 8][4];

__device__ __forceinline__ void add_products(const Halves& reference, const Halves& moving,
                                             int first_row, int first_column, Products& products) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int word = lane % 4; word < depth / 2; word += 8) {
    std::uint32_t high[rows_of_warp / 16][4];
    std::uint32_t low[rows_of_warp / 16][4];
#pragma unroll
    for (int m = 0; m < rows_of_warp / 16; ++m) {
      rows_from(reference.high, first_row + 16 * m + lane / 4, word, high[m]);
      rows_from(reference.low, first_row + 16 * m + lane / 4, word, low[m]);
    }
#pragma unroll
    for (int n = 0; n < SLICE / 8; ++n) {
      std::uint32_t other_high[2];
      std::uint32_t other_low[2];
      columns_from(moving.high, first_column + 8 * n + lane / 4, word, other_high);
      columns_from(moving.low, first_column + 8 * n + lane / 4, word, other_low);
#pragma unroll
      for (int m = 0; m < rows_of_warp / 16; ++m) {
        multiply_add(products[m][n], low[m], other_high);
        multiply_add(products[m][n], high[m], other_low);
        multiply_add(products[m][n], high[m], other_high);
      }
    }
  }
}

// The best of a row of products. This thread holds two of every eight; the four threads that share
// the row get the same result.
__device__ __forceinline__ WaNearest best_of_row(const float (&products)[SLICE / 8][4], int lower,
                                                 int first_column, int count) {
  WaNearest best{-1, -1.0F};
#pragma unroll
  for (int n = 0; n < SLICE / 8; ++n) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int index = first_column + 8 * n + 2 * (static_cast<int>(threadIdx.x) % 4) + i;
      const float product = products[n][2 * lower + i];
      if (index < count && product > best.value) best = {index, product};
    }
  }
#pragma unroll
  for (int distance = 1; distance < 4; distance *= 2) {
    const WaNearest other{__shfl_xor_sync(0xffffffffU, best.index, distance),
                          __shfl_xor_sync(0xffffffffU, best.value, distance)};
    best = wa_better(best, other);
  }
  return best;
}

}  // namespace slice_products

/// Like best_of_slices() of shared/feature_matches.cl, with the same results except for the
/// rounding of products.
__global__ void __launch_bounds__(slice_products::threads, 2)
    best_of_slice_products(const float* __restrict__ reference, int reference_count,
                           const float* __restrict__ moving, int moving_count, int slices,
                           WaNearest* __restrict__ best) {
  using namespace slice_products;
  wait_for_previous_kernel();
  __shared__ Halves of_reference;
  __shared__ Halves of_moving;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int first_row = warp % warps_along_rows * rows_of_warp;
  const int first_column = warp / warps_along_rows * SLICE;
  const int first_reference = static_cast<int>(blockIdx.y) * tile;
  const int first_moving = static_cast<int>(blockIdx.x) * tile;
  Products products = {};
  Loaded next_reference = load_tile(reference, first_reference, reference_count, 0);
  Loaded next_moving = load_tile(moving, first_moving, moving_count, 0);
#pragma unroll 1
  for (int from = 0; from < DIMENSIONS; from += depth) {
    store_tile(next_reference, of_reference);
    store_tile(next_moving, of_moving);
    __syncthreads();
    if (from + depth < DIMENSIONS) {
      next_reference = load_tile(reference, first_reference, reference_count, from + depth);
      next_moving = load_tile(moving, first_moving, moving_count, from + depth);
    }
    add_products(of_reference, of_moving, first_row, first_column, products);
    __syncthreads();
  }
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int slice = (first_moving + first_column) / SLICE;
#pragma unroll
  for (int m = 0; m < rows_of_warp / 16; ++m) {
#pragma unroll
    for (int lower = 0; lower < 2; ++lower) {
      const WaNearest found =
          best_of_row(products[m], lower, first_moving + first_column, moving_count);
      const int row = first_reference + first_row + 16 * m + 8 * lower + lane / 4;
      if (lane % 4 == 0 && row < reference_count && slice < slices) {
        best[static_cast<long long>(row) * slices + slice] = found;
      }
    }
  }
}

}  // namespace warpalign::cuda
