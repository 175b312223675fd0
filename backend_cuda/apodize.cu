// Stage: window an image and place it on a canvas.
#include "launch.hpp"
#include "memory.hpp"
#include "stages.hpp"

#include "formulas/window.h"

#include <cstddef>

namespace warpalign::cuda {
namespace {

constexpr int columns_a_thread = 4;
constexpr int rows_a_thread = 4;  // so that the columns' weights are computed once for several rows

struct Geometry {
  int width, height;  // of the input
  int canvas_width, canvas_height;
  int offset_x, offset_y;  // of the input on the canvas
};

template <bool windowed>
__device__ __forceinline__ float weight(int i, int n) {
  if constexpr (windowed) {
    return wa_hann(i, 1.0f / static_cast<float>(n));
  } else {
    return 1.0f;
  }
}

__device__ __forceinline__ float deviation(float pixel, float mean) {
  return isfinite(pixel) ? pixel - mean : 0.0f;
}

template <bool windowed>
__global__ void apodize_kernel(const float* __restrict__ input, const float* __restrict__ mean,
                               float* __restrict__ canvas, Geometry g) {
  const int left = static_cast<int>(blockIdx.x * (columns_a_thread * warp_lanes) + threadIdx.x);
  const int top = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * row_block_height);
  const float average = *mean;
  float column_weight[columns_a_thread];
#pragma unroll
  for (int k = 0; k < columns_a_thread; ++k) {
    column_weight[k] = weight<windowed>(left + k * warp_lanes - g.offset_x, g.width);
  }
  for (int y = top; y < g.canvas_height; y += step) {
    const int row = y - g.offset_y;
    const bool row_inside = row >= 0 && row < g.height;
    const float row_weight = weight<windowed>(row, g.height);
    const long long source = static_cast<long long>(row) * g.width - g.offset_x;
#pragma unroll
    for (int k = 0; k < columns_a_thread; ++k) {
      const int x = left + k * warp_lanes;
      if (x >= g.canvas_width) continue;
      const int column = x - g.offset_x;
      float value = 0.0f;
      if (row_inside && column >= 0 && column < g.width) {
        value = deviation(input[source + x], average) * (column_weight[k] * row_weight);
      }
      canvas[static_cast<long long>(y) * g.canvas_width + x] = value;
    }
  }
}

Geometry geometry_of(const ApodizeSpec& spec, const Place& place) {
  const Shape offset = ApodizePlan::offset(spec);
  return {extent(spec.input.width, place),  extent(spec.input.height, place),
          extent(spec.canvas.width, place), extent(spec.canvas.height, place),
          static_cast<int>(offset.width),   static_cast<int>(offset.height)};
}

class ApodizeStage final : public backend::Apodize {
 public:
  ApodizeStage(const Context& context, const ApodizeSpec& spec)
      : place_{context, "apodize"},
        geometry_(geometry_of(spec, place_)),
        kernel_(spec.window == Window::hann ? &apodize_kernel<true> : &apodize_kernel<false>) {
    load(kernel_, place_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               const backend::Memory& statistics, backend::Memory& canvas) override {
    const dim3 grid = tile_grid(geometry_.canvas_width, geometry_.canvas_height,
                                columns_a_thread * warp_lanes, rows_a_thread * row_block_height);
    static_assert(offsetof(StatisticsRecord, mean) == 0);
    launch(place_, queue, grid, dim3(warp_lanes, row_block_height), kernel_, data<float>(input),
           data<float>(statistics), data<float>(canvas), geometry_);
  }

 private:
  Place place_;
  Geometry geometry_;
  void (*kernel_)(const float*, const float*, float*, Geometry);
};

}  // namespace

std::unique_ptr<backend::Apodize> make_apodize(const Context& context, const ApodizeSpec& spec) {
  return std::make_unique<ApodizeStage>(context, spec);
}

}  // namespace warpalign::cuda
