// Stage: gradient magnitude by the 3 x 3 Sobel operator (registration paper, section 4).
//
// Each thread computes a block of 4 x 2 pixels. It reads four rows of four pixels, one word a
// row, and takes the columns left and right of them from its neighbours in the warp. The plain
// kernel, which it is compared with, computes one pixel a thread from reads of its own.
#include "launch.hpp"
#include "memory.hpp"
#include "stages.hpp"

#include "formulas/sobel.h"

#include <cstdint>

namespace warpalign::cuda {
namespace {

constexpr int block_columns = 4;
constexpr int block_rows = 2;
constexpr unsigned all_lanes = 0xffffffffU;

__device__ __forceinline__ float4 load_four(const std::uint8_t* pixels) {
  const uchar4 word = *reinterpret_cast<const uchar4*>(pixels);
  return make_float4(word.x, word.y, word.z, word.w);
}

__device__ __forceinline__ float4 load_four(const std::uint16_t* pixels) {
  const ushort4 word = *reinterpret_cast<const ushort4*>(pixels);
  return make_float4(word.x, word.y, word.z, word.w);
}

__device__ __forceinline__ float4 load_four(const float* pixels) {
  return *reinterpret_cast<const float4*>(pixels);
}

// Pixels x ... x + 3 of a row; beyond the edge, any pixels of the row where `words`, and the
// edge's pixel otherwise. `words`: the width is a multiple of four, so that words are aligned.
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

// Pixels x - 1 ... x + 4 of a row, the edge repeated. All lanes of the warp take part.
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

template <bool words>
__device__ __forceinline__ void store_four(float* row, int x, int width, const float (&four)[4]) {
  if constexpr (words) {
    if (x < width) {
      *reinterpret_cast<float4*>(row + x) = make_float4(four[0], four[1], four[2], four[3]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < block_columns; ++k) {
      if (x + k < width) row[x + k] = four[k];
    }
  }
}

// Four magnitudes from three rows of six pixels: the sums and differences down each column are
// computed once and shared by the pixels beside it.
__device__ __forceinline__ void four_magnitudes(const float (&above)[6], const float (&at)[6],
                                                const float (&below)[6], float (&four)[4]) {
  float smooth[6];
  float difference[6];
#pragma unroll
  for (int column = 0; column < 6; ++column) {
    smooth[column] = wa_sobel_smooth(above[column], at[column], below[column]);
    difference[column] = below[column] - above[column];
  }
#pragma unroll
  for (int k = 0; k < block_columns; ++k) {
    four[k] = wa_sobel_magnitude(smooth[k], smooth[k + 2], difference[k], difference[k + 1],
                                 difference[k + 2]);
  }
}

template <bool words, class Pixel>
__global__ void sobel_kernel(const Pixel* __restrict__ input, float* __restrict__ output, int width,
                             int height) {
  const int x = block_columns * static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  const int first = block_rows * static_cast<int>(blockIdx.y * row_block_height + threadIdx.y);
  const int step = block_rows * static_cast<int>(gridDim.y * row_block_height);
  for (int y = first; y < height; y += step) {  // the same for all lanes of a warp
    float pixels[4][6];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = min(max(y + r - 1, 0), height - 1);
      six_pixels<words>(input + static_cast<std::size_t>(row) * width, x, width, pixels[r]);
    }
#pragma unroll
    for (int r = 0; r < block_rows; ++r) {
      if (y + r >= height) break;
      float four[4];
      four_magnitudes(pixels[r], pixels[r + 1], pixels[r + 2], four);
      store_four<words>(output + static_cast<std::size_t>(y + r) * width, x, width, four);
    }
  }
}

template <class Pixel>
__global__ void plain_kernel(const Pixel* __restrict__ input, float* __restrict__ output, int width,
                             int height) {
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (x >= width) return;
  const int left = max(x - 1, 0);
  const int right = min(x + 1, width - 1);
  const auto row = [&](int y) {
    return input + static_cast<std::size_t>(min(max(y, 0), height - 1)) * width;
  };
  const int first = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * row_block_height);
  for (int y = first; y < height; y += step) {
    const Pixel* above = row(y - 1);
    const Pixel* at = row(y);
    const Pixel* below = row(y + 1);
    const auto smooth = [&](int column) {
      return wa_sobel_smooth(static_cast<float>(above[column]), static_cast<float>(at[column]),
                             static_cast<float>(below[column]));
    };
    const auto difference = [&](int column) {
      return static_cast<float>(below[column]) - static_cast<float>(above[column]);
    };
    output[static_cast<std::size_t>(y) * width + x] = wa_sobel_magnitude(
        smooth(left), smooth(right), difference(left), difference(x), difference(right));
  }
}

/// A kernel and the pixels that one of its threads computes.
template <class Pixel>
struct SobelKernel {
  void (*function)(const Pixel*, float*, int, int);
  int columns;
  int rows;
};

template <class Pixel>
SobelKernel<Pixel> kernel_for(const SobelSpec& spec) {
  if (spec.method == SobelMethod::plain) return {&plain_kernel<Pixel>, 1, 1};
  return {spec.shape.width % block_columns == 0 ? &sobel_kernel<true, Pixel>
                                                : &sobel_kernel<false, Pixel>,
          block_columns, block_rows};
}

template <class Pixel>
class SobelStage final : public backend::Sobel {
 public:
  SobelStage(const Context& context, const SobelSpec& spec)
      : place_{context, "sobel"},
        width_(extent(spec.shape.width, place_)),
        height_(extent(spec.shape.height, place_)),
        kernel_(kernel_for<Pixel>(spec)) {
    load(kernel_.function, place_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    const dim3 grid =
        tile_grid(width_, height_, kernel_.columns * warp_lanes, kernel_.rows * row_block_height);
    launch(place_, queue, grid, dim3(warp_lanes, row_block_height), kernel_.function,
           data<Pixel>(input), data<float>(output), width_, height_);
  }

 private:
  Place place_;
  int width_;
  int height_;
  SobelKernel<Pixel> kernel_;
};

}  // namespace

std::unique_ptr<backend::Sobel> make_sobel(const Context& context, const SobelSpec& spec) {
  switch (spec.input) {
    case PixelType::u8:
      return std::make_unique<SobelStage<std::uint8_t>>(context, spec);
    case PixelType::u16:
      return std::make_unique<SobelStage<std::uint16_t>>(context, spec);
    default:
      return std::make_unique<SobelStage<float>>(context, spec);
  }
}

}  // namespace warpalign::cuda
