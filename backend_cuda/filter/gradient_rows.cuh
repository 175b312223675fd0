// Reads an image, or its Sobel gradient, four pixels of a row at a time (registration paper,
// section 4).
//
// Each thread computes blocks of 4 x 4 pixels. For a gradient it reads six rows of four pixels, one
// word per row, and gets the columns to the left and right of them from its neighbours in the warp.
#pragma once

#include "device/launch.hpp"

#include "formulas/sobel.h"

#include <cstdint>

namespace warpalign::cuda {

inline constexpr int block_columns = 4;
inline constexpr int block_rows = 4;
inline constexpr unsigned all_lanes = 0xffffffffU;

/// The grid for blocks of 32 x 8 threads; kernels step down the image by gridDim.y blocks.
[[nodiscard]] inline dim3 gradient_grid(int width, int height) {
  return tile_grid(width, height, block_columns * warp_lanes, block_rows * row_block_height);
}
[[nodiscard]] inline dim3 gradient_block() { return dim3(warp_lanes, row_block_height); }

/// Whether every row begins at a word of four pixels.
[[nodiscard]] inline bool rows_are_words(int width) { return width % block_columns == 0; }

// Converts bytes of a word to a float by inserting them in the mantissa of 2^23 + n. That costs a
// permutation and an addition, whereas conversions run at a quarter of their rate. `selector` names
// the bytes; 4 stands for those of the exponent.
template <unsigned selector>
__device__ __forceinline__ float digits_of(unsigned word) {
  return __uint_as_float(__byte_perm(word, 0x4b000000U, selector)) - 8388608.0f;
}

__device__ __forceinline__ float4 load_four(const std::uint8_t* pixels) {
  const unsigned word = *reinterpret_cast<const unsigned*>(pixels);
  return make_float4(digits_of<0x7440>(word), digits_of<0x7441>(word), digits_of<0x7442>(word),
                     digits_of<0x7443>(word));
}

__device__ __forceinline__ float4 load_four(const std::uint16_t* pixels) {
  const uint2 words = *reinterpret_cast<const uint2*>(pixels);
  return make_float4(digits_of<0x7410>(words.x), digits_of<0x7432>(words.x),
                     digits_of<0x7410>(words.y), digits_of<0x7432>(words.y));
}

__device__ __forceinline__ float4 load_four(const float* pixels) {
  return *reinterpret_cast<const float4*>(pixels);
}

// Pixels x ... x + 3 of a row. Beyond the edge they are arbitrary pixels of the row if `words`,
// otherwise the pixel at the edge. `words`: the width is a multiple of four, so that words are
// aligned.
template <bool words, class Pixel>
__device__ __forceinline__ float4 four_pixels(const Pixel* row, int x, int width) {
  const int last = width - 1;
  if constexpr (words) {
    return load_four(row + min(x, width - block_columns));
  } else {
    return make_float4(row[min(x, last)], row[min(x + 1, last)], row[min(x + 2, last)],
                       row[min(x + 3, last)]);
  }
}

// Pixels x - 1 ... x + 4 of a row, with the edge repeated. All lanes of the warp must call it.
template <bool words, class Pixel>
__device__ __forceinline__ void six_pixels(const Pixel* row, int x, int width, float (&six)[6]) {
  const int lane = static_cast<int>(threadIdx.x);
  const float4 four = four_pixels<words>(row, x, width);
  float left = __shfl_up_sync(all_lanes, four.w, 1);
  float right = __shfl_down_sync(all_lanes, four.x, 1);
  if (lane == 0) left = row[min(max(x - 1, 0), width - 1)];
  if (x + block_columns >= width) {
    right = four.w;
  } else if (lane == warp_lanes - 1) {
    right = row[x + block_columns];
  }
  six[0] = left;
  six[1] = four.x;
  six[2] = four.y;
  six[3] = four.z;
  six[4] = four.w;
  six[5] = right;
}

// Four gradient magnitudes from three rows of six pixels. The sums and differences down each column
// are computed once and shared by the neighbouring pixels.
__device__ __forceinline__ float4 four_magnitudes(const float (&above)[6], const float (&at)[6],
                                                  const float (&below)[6]) {
  float smooth[6];
  float difference[6];
#pragma unroll
  for (int column = 0; column < 6; ++column) {
    smooth[column] = wa_sobel_smooth(above[column], at[column], below[column]);
    difference[column] = below[column] - above[column];
  }
  const auto magnitude = [&](int k) {
    return wa_sobel_magnitude(smooth[k], smooth[k + 2], difference[k], difference[k + 1],
                              difference[k + 2]);
  };
  return make_float4(magnitude(0), magnitude(1), magnitude(2), magnitude(3));
}

/// Calls take(x, y, four) for pixels x ... x + 3 of row y, for every pixel of the image; `four`
/// holds the magnitudes of the gradient or the pixels themselves. Values of columns from `width` on
/// are unspecified.
template <bool gradient, bool words, class Pixel, class Take>
__device__ __forceinline__ void for_rows_of_four(const Pixel* __restrict__ input, int width,
                                                 int height, Take take) {
  const int x = block_columns * static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  const int first = block_rows * static_cast<int>(blockIdx.y * row_block_height + threadIdx.y);
  const int step = block_rows * static_cast<int>(gridDim.y * row_block_height);
  const auto row_at = [&](int y) { return input + static_cast<std::size_t>(y) * width; };
  for (int y = first; y < height; y += step) {  // the same iterations for all lanes of a warp
    if constexpr (gradient) {
      float pixels[block_rows + 2][6];
#pragma unroll
      for (int r = 0; r < block_rows + 2; ++r) {
        six_pixels<words>(row_at(min(max(y + r - 1, 0), height - 1)), x, width, pixels[r]);
      }
#pragma unroll
      for (int r = 0; r < block_rows; ++r) {
        if (y + r >= height) break;
        take(x, y + r, four_magnitudes(pixels[r], pixels[r + 1], pixels[r + 2]));
      }
    } else {
#pragma unroll
      for (int r = 0; r < block_rows; ++r) {
        if (y + r >= height) break;
        take(x, y + r, four_pixels<words>(row_at(y + r), x, width));
      }
    }
  }
}

/// Stores four values from for_rows_of_four() to a row of `width` pixels. `words`: row + x is
/// aligned.
template <bool words>
__device__ __forceinline__ void store_four(float* row, int x, int width, float4 four) {
  if constexpr (words) {
    if (x < width) *reinterpret_cast<float4*>(row + x) = four;
  } else {
    if (x < width) row[x] = four.x;
    if (x + 1 < width) row[x + 1] = four.y;
    if (x + 2 < width) row[x + 2] = four.z;
    if (x + 3 < width) row[x + 3] = four.w;
  }
}

}  // namespace warpalign::cuda
