// The truncated prefilter (Champagnat and Le Sant, equation 12) of one line, in registers: across
// the lanes of a warp, and streaming down a column. For up to 15 taps; fewer are padded with zeros.
#pragma once

#include "spline/prefilter_recursion.cuh"

#include <cstddef>
#include <vector>

namespace warpalign::cuda {

inline constexpr int max_streaming_taps = 15;
inline constexpr int reach = max_streaming_taps / 2;

/// The taps b(0) ... b(7); b(-k) = b(k).
struct SymmetricTaps {
  float value[reach + 1];
};

[[nodiscard]] inline SymmetricTaps symmetric(const std::vector<double>& taps) {
  SymmetricTaps half{};
  const std::size_t middle = taps.size() / 2;
  for (std::size_t k = 0; k <= middle; ++k) half.value[k] = static_cast<float>(taps[middle + k]);
  return half;
}

/// sum_k b(k) window(k), computed from the middle outwards.
template <class Window>
__device__ __forceinline__ float convolve_at(const SymmetricTaps& taps, Window window) {
  float sum = taps.value[0] * window(0);
#pragma unroll
  for (int k = 1; k <= reach; ++k) sum = fmaf(taps.value[k], window(-k) + window(k), sum);
  return sum;
}

// Filters a row with four pixels per lane. The seven samples on either side come from the two lanes
// on that side.
__device__ __forceinline__ void convolve_row(float (&v)[lane_pixels], const SymmetricTaps& taps) {
  float window[lane_pixels + 2 * reach];
#pragma unroll
  for (int i = 0; i < lane_pixels + 2 * reach; ++i) {
    const int index = i - reach + 2 * lane_pixels;  // relative to two lanes before
    const int lanes = index / lane_pixels - 2;
    const float own = v[index % lane_pixels];
    window[i] = lanes < 0   ? from_neighbour<true>(own, -lanes)
                : lanes > 0 ? from_neighbour<false>(own, lanes)
                            : own;
  }
#pragma unroll
  for (int i = 0; i < lane_pixels; ++i) {
    v[i] = convolve_at(taps, [&](int k) { return window[i + reach + k]; });
  }
}

/// Like RecursiveColumn: the results of a chunk come out when the next chunk goes in.
template <int chunk>
struct ConvolvedColumn {
  float window[chunk + reach];  // the last samples before the previous chunk, and that chunk

  __device__ __forceinline__ void advance(int, const SymmetricTaps& taps,
                                          const float (&samples)[chunk], float (&results)[chunk]) {
    const auto at = [&](int j) {
      return j < chunk + reach ? window[j] : samples[j - chunk - reach];
    };
#pragma unroll
    for (int j = 0; j < chunk; ++j) {
      results[j] = convolve_at(taps, [&](int k) { return at(reach + j + k); });
    }
#pragma unroll
    for (int j = 0; j < chunk + reach; ++j) window[j] = at(chunk + j);
  }
};

/// The convolution in the form that the streaming kernels take.
template <int chunk_length, int side_columns>
struct Convolution {
  static_assert(chunk_length >= reach && side_columns >= reach);
  static constexpr int chunk = chunk_length;
  static constexpr int side = side_columns;
  static constexpr int blocks_per_multiprocessor = 8;
  static constexpr int axis_blocks_per_multiprocessor = 8;
  using Coefficients = SymmetricTaps;
  using Column = ConvolvedColumn<chunk>;

  static __device__ __forceinline__ void filter_row(float (&v)[lane_pixels],
                                                    const SymmetricTaps& taps) {
    convolve_row(v, taps);
  }
};

}  // namespace warpalign::cuda
