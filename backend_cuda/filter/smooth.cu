// Stage: Gaussian smoothing with resampling to the output's grid, along rows and then along
// columns.
//
// For each weight that it loads, a thread updates the sums of several pixels: first of several rows
// of one output column, then of several columns of one output row. Neighbouring threads share their
// loads through the cache.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "filter/axis_tables.hpp"

#include <warpalign/backend/stages/filter/smooth.hpp>

#include <cstdint>
#include <type_traits>

namespace warpalign::cuda {
namespace {

constexpr int rows_per_thread = 4;
constexpr int columns_per_thread = 4;
constexpr int column_block_height = 16;

// A weighted sum of pixels; with a mask, (sum, sum of the weights of valid pixels).
template <bool masked>
using Sum = std::conditional_t<masked, float2, float>;

__device__ __forceinline__ void add(float& sum, float weight, float value) {
  sum = fmaf(weight, value, sum);
}
__device__ __forceinline__ void add(float2& sum, float weight, float2 value) {
  sum.x = fmaf(weight, value.x, sum.x);
  sum.y = fmaf(weight, value.y, sum.y);
}

template <bool masked, class Pixel>
__device__ __forceinline__ Sum<masked> sample(const Pixel* __restrict__ input,
                                              const std::uint8_t* __restrict__ mask, long long i) {
  const auto value = static_cast<float>(input[i]);
  if constexpr (masked) {
    return mask[i] != 0 ? make_float2(value, 1.0f) : make_float2(0.0f, 0.0f);
  } else {
    return value;
  }
}

template <class Pixel, bool masked>
__global__ void __launch_bounds__(warp_lanes* row_block_height)
    smooth_rows_kernel(const Pixel* __restrict__ input, const std::uint8_t* __restrict__ mask,
                       int width, int height, Axis axis, Sum<masked>* __restrict__ between) {
  wait_for_previous_kernel();
  constexpr int tile_height = rows_per_thread * row_block_height;
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (x >= axis.n) return;
  const int first = __ldg(axis.first + x);
  for (int top = static_cast<int>(blockIdx.y * tile_height + threadIdx.y); top < height;
       top += static_cast<int>(gridDim.y * tile_height)) {
    long long start[rows_per_thread];
    Sum<masked> sum[rows_per_thread] = {};
#pragma unroll
    for (int r = 0; r < rows_per_thread; ++r) {
      const int y = min(top + r * row_block_height, height - 1);
      start[r] = static_cast<long long>(y) * width + first;
    }
    const float* weights = axis.weights + x;
    for (int k = 0; k < axis.taps; ++k, weights += axis.n) {
      const float weight = __ldg(weights);
#pragma unroll
      for (int r = 0; r < rows_per_thread; ++r) {
        add(sum[r], weight, sample<masked>(input, mask, start[r] + k));
      }
    }
#pragma unroll
    for (int r = 0; r < rows_per_thread; ++r) {
      const int y = top + r * row_block_height;
      if (y < height) between[static_cast<long long>(y) * axis.n + x] = sum[r];
    }
  }
}

__device__ __forceinline__ void store(float sum, long long at, float* __restrict__ output,
                                      float* __restrict__ /*weight*/) {
  output[at] = sum;
}
__device__ __forceinline__ void store(float2 sum, long long at, float* __restrict__ output,
                                      float* __restrict__ weight) {
  output[at] = sum.y > 0.0f ? sum.x / sum.y : 0.0f;
  weight[at] = sum.y;
}

template <bool masked>
__global__ void __launch_bounds__(warp_lanes* column_block_height)
    smooth_columns_kernel(const Sum<masked>* __restrict__ between, int columns, Axis axis,
                          float* __restrict__ output, float* __restrict__ weight_of_output) {
  wait_for_previous_kernel();
  const int left = static_cast<int>(blockIdx.x * (columns_per_thread * warp_lanes) + threadIdx.x);
  int x[columns_per_thread];
#pragma unroll
  for (int c = 0; c < columns_per_thread; ++c) x[c] = min(left + c * warp_lanes, columns - 1);
  for (int y = static_cast<int>(blockIdx.y * column_block_height + threadIdx.y); y < axis.n;
       y += static_cast<int>(gridDim.y * column_block_height)) {
    const Sum<masked>* row = between + static_cast<long long>(__ldg(axis.first + y)) * columns;
    const float* weights = axis.weights + y;
    Sum<masked> sum[columns_per_thread] = {};
    for (int k = 0; k < axis.taps; ++k, row += columns, weights += axis.n) {
      const float weight = __ldg(weights);
#pragma unroll
      for (int c = 0; c < columns_per_thread; ++c) add(sum[c], weight, row[x[c]]);
    }
#pragma unroll
    for (int c = 0; c < columns_per_thread; ++c) {
      if (left + c * warp_lanes >= columns) continue;
      store(sum[c], static_cast<long long>(y) * columns + x[c], output, weight_of_output);
    }
  }
}

template <class Pixel, bool masked>
class SmoothStage final : public backend::Smooth {
 public:
  SmoothStage(const Context& context, const SmoothSpec& spec, const backend::PlaneWeights& weights)
      : site_{context, "smooth"},
        width_(extent(spec.shape.width, site_)),
        height_(extent(spec.shape.height, site_)),
        columns_(extent(spec.output.width, site_)),
        rows_(extent(spec.output.height, site_)),
        x_(site_, weights.x),
        y_(site_, weights.y),
        between_(site_, static_cast<std::size_t>(spec.output.width * spec.shape.height) *
                            sizeof(Sum<masked>)),
        scratch_guard_(site_) {
    load(&smooth_rows_kernel<Pixel, masked>, site_);
    load(&smooth_columns_kernel<masked>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               backend::Memory& output) override {
    run(queue, data<Pixel>(input), nullptr, data<float>(output), nullptr);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory& mask,
               backend::Memory& output, backend::Memory& weight) override {
    run(queue, data<Pixel>(input), data<std::uint8_t>(mask), data<float>(output),
        data<float>(weight));
  }

 private:
  void run(const backend::Queue& queue, const Pixel* input, const std::uint8_t* mask, float* output,
           float* weight) {
    site_.context.activate();
    scratch_guard_.enter(queue);
    launch_dependent(site_, queue,
                 tile_grid(columns_, height_, warp_lanes, rows_per_thread * row_block_height),
                 dim3(warp_lanes, row_block_height), &smooth_rows_kernel<Pixel, masked>, input,
                 mask, width_, height_, x_.axis(), between_.as<Sum<masked>>());
    launch_dependent(site_, queue,
                 tile_grid(columns_, rows_, columns_per_thread * warp_lanes, column_block_height),
                 dim3(warp_lanes, column_block_height), &smooth_columns_kernel<masked>,
                 between_.as<const Sum<masked>>(), columns_, y_.axis(), output, weight);
  }

  CallSite site_;
  int width_, height_, columns_, rows_;
  AxisTable x_, y_;
  DeviceMemory between_;
  ScratchGuard scratch_guard_;
};

template <class Pixel>
std::unique_ptr<backend::Smooth> make_typed(const Context& context, const SmoothSpec& spec,
                                            const backend::PlaneWeights& weights) {
  if (spec.masked) return std::make_unique<SmoothStage<Pixel, true>>(context, spec, weights);
  return std::make_unique<SmoothStage<Pixel, false>>(context, spec, weights);
}

}  // namespace

template <>
std::unique_ptr<backend::Smooth> make(const Context& context, const backend::Smooth::Setup& setup) {
  const auto& [spec, weights] = setup;
  switch (spec.input) {
    case PixelType::u8:
      return make_typed<std::uint8_t>(context, spec, weights);
    case PixelType::u16:
      return make_typed<std::uint16_t>(context, spec, weights);
    default:
      return make_typed<float>(context, spec, weights);
  }
}

}  // namespace warpalign::cuda
