// Stage: gradient magnitude by the 3 x 3 Sobel operator (registration paper, section 4).
//
// The usual kernel computes blocks of 4 x 4 pixels (gradient_rows.cuh). The plain kernel, its
// baseline, computes one pixel per thread and loads all of its neighbours itself.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/pixel_load.cuh"
#include "device/stage.hpp"
#include "filter/gradient_rows.cuh"

#include <warpalign/backend/stages/filter/sobel.hpp>

#include <cstdint>

namespace warpalign::cuda {
namespace {

template <bool words, class Pixel>
__global__ void sobel_kernel(const Pixel* __restrict__ input, float* __restrict__ output, int width,
                             int height) {
  wait_for_previous_kernel();
  for_rows_of_four<true, words>(input, width, height, [=](int x, int y, float4 four) {
    store_four<words>(output + static_cast<std::size_t>(y) * width, x, width, four);
  });
}

template <class Pixel>
__global__ void plain_kernel(const Pixel* __restrict__ input, float* __restrict__ output, int width,
                             int height) {
  wait_for_previous_kernel();
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

/// A kernel and the columns and rows of pixels that one of its threads computes.
template <class Pixel>
struct SobelKernel {
  void (*function)(const Pixel*, float*, int, int);
  int columns;
  int rows;
};

template <class Pixel>
SobelKernel<Pixel> kernel_for(const SobelSpec& spec) {
  if (spec.method == SobelMethod::plain) return {&plain_kernel<Pixel>, 1, 1};
  return {rows_are_words(static_cast<int>(spec.shape.width)) ? &sobel_kernel<true, Pixel>
                                                             : &sobel_kernel<false, Pixel>,
          block_columns, block_rows};
}

template <class Pixel>
class SobelStage final : public backend::Sobel {
 public:
  SobelStage(const Context& context, const SobelSpec& spec)
      : site_{context, "sobel"},
        width_(extent(spec.shape.width, site_)),
        height_(extent(spec.shape.height, site_)),
        kernel_(kernel_for<Pixel>(spec)) {
    load(kernel_.function, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    const dim3 grid =
        tile_grid(width_, height_, kernel_.columns * warp_lanes, kernel_.rows * row_block_height);
    launch_dependent(site_, queue, grid, dim3(warp_lanes, row_block_height), kernel_.function,
                 data<Pixel>(input), data<float>(output), width_, height_);
  }

 private:
  CallSite site_;
  int width_;
  int height_;
  SobelKernel<Pixel> kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::Sobel> make(const Context& context, const SobelSpec& spec) {
  return with_grey_type(spec.input, [&](auto pixel) -> std::unique_ptr<backend::Sobel> {
    return std::make_unique<SobelStage<decltype(pixel)>>(context, spec);
  });
}

}  // namespace warpalign::cuda
