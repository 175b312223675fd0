// Stage: detection and removal of impulse noise.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/impulse.h"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>

#include <cstdint>

namespace warpalign::cuda {
namespace {

// The number of neighbours of (x, y) in the image that are equal to `value`, an end of the range.
template <class Pixel>
__device__ int equal_neighbours(const Pixel* __restrict__ input, int width, int height, int x,
                                int y, float value) {
  int same = 0;
  for (int j = max(y - 1, 0); j <= min(y + 1, height - 1); ++j) {
    for (int i = max(x - 1, 0); i <= min(x + 1, width - 1); ++i) {
      same += static_cast<float>(input[static_cast<long long>(j) * width + i]) == value ? 1 : 0;
    }
  }
  return same - 1;
}

// Writes (lowest, highest) of every step-th row to `rows`. A block processes one row.
template <class Pixel>
__global__ void __launch_bounds__(reduction_threads)
    row_extremes_kernel(const Pixel* __restrict__ input, int width, int step,
                        float2* __restrict__ rows) {
  wait_for_previous_kernel();
  __shared__ float2 shared[reduction_threads];
  const int item = static_cast<int>(threadIdx.x);
  const Pixel* row = input + static_cast<long long>(blockIdx.x) * step * width;
  float2 mine = make_float2(INFINITY, -INFINITY);
  for (int x = item; x < width; x += reduction_threads) {
    const float value = static_cast<float>(row[x]);
    mine = make_float2(fminf(mine.x, value), fmaxf(mine.y, value));
  }
  shared[item] = mine;
  __syncthreads();
  for (int half_block = reduction_threads / 2; half_block > 0; half_block /= 2) {
    if (item < half_block) {
      const float2 other = shared[item + half_block];
      shared[item] = make_float2(fminf(shared[item].x, other.x), fmaxf(shared[item].y, other.y));
    }
    __syncthreads();
  }
  if (item == 0) rows[blockIdx.x] = shared[0];
}

// Counts in every step-th row the pixels at an end of the range that have no equal neighbour, and
// writes the counts to `rows`.
template <class Pixel>
__global__ void __launch_bounds__(reduction_threads)
    row_isolated_kernel(const Pixel* __restrict__ input, int width, int height, int step,
                        float lowest, float highest, float* __restrict__ rows) {
  wait_for_previous_kernel();
  __shared__ float shared[reduction_threads];
  const int item = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.x) * step;
  float mine = 0.0f;
  for (int x = item; x < width; x += reduction_threads) {
    const float value = static_cast<float>(input[static_cast<long long>(y) * width + x]);
    if (!wa_is_extreme(value, lowest, highest)) continue;
    mine += equal_neighbours(input, width, height, x, y, value) == 0 ? 1.0f : 0.0f;
  }
  shared[item] = mine;
  __syncthreads();
  for (int half_block = reduction_threads / 2; half_block > 0; half_block /= 2) {
    if (item < half_block) shared[item] += shared[item + half_block];
    __syncthreads();
  }
  if (item == 0) rows[blockIdx.x] = shared[0];
}

// The mean of the neighbours within `reach` that are not at an end of the range, weighted by their
// distance; `weight` is 0 if there is none.
template <class Pixel>
__device__ float filled(const Pixel* __restrict__ input, int width, int height, int x, int y,
                        int reach, float lowest, float highest, float* weight) {
  float sum = 0.0f;
  for (int j = max(y - reach, 0); j <= min(y + reach, height - 1); ++j) {
    for (int i = max(x - reach, 0); i <= min(x + reach, width - 1); ++i) {
      const float neighbour = static_cast<float>(input[static_cast<long long>(j) * width + i]);
      if (wa_is_extreme(neighbour, lowest, highest)) continue;
      const float w = wa_fill_weight(i - x, j - y);
      sum = fmaf(w, neighbour, sum);
      *weight += w;
    }
  }
  return sum / *weight;
}

template <class Pixel>
__global__ void impulse_filter_kernel(const Pixel* __restrict__ input, int width, int height,
                                      float lowest, float highest, float* __restrict__ output) {
  wait_for_previous_kernel();
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  const int first = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y);
  if (x >= width) return;
  for (int y = first; y < height; y += static_cast<int>(gridDim.y * row_block_height)) {
    const long long at = static_cast<long long>(y) * width + x;
    const float value = static_cast<float>(input[at]);
    float result = value;
    if (wa_is_extreme(value, lowest, highest) &&
        equal_neighbours(input, width, height, x, y, value) <= WA_IMPULSE_MAX_EQUAL) {
      float weight = 0.0f;
      for (int reach = 1; reach <= 2 && weight == 0.0f; ++reach) {
        const float mean = filled(input, width, height, x, y, reach, lowest, highest, &weight);
        if (weight > 0.0f) result = mean;
      }
    }
    output[at] = result;
  }
}

template <class Pixel>
class ImpulseFilterStage final : public backend::ImpulseFilter {
 public:
  ImpulseFilterStage(const Context& context, const ImpulseFilterSpec& spec)
      : site_{context, "impulse_filter"},
        width_(extent(spec.shape.width, site_)),
        height_(extent(spec.shape.height, site_)) {
    load(&row_extremes_kernel<Pixel>, site_);
    load(&row_isolated_kernel<Pixel>, site_);
    load(&impulse_filter_kernel<Pixel>, site_);
  }

  void enqueue_extremes(backend::Queue& queue, const backend::Memory& input, int step,
                        backend::Memory& rows) override {
    launch_dependent(site_, queue, rows_grid(step), dim3(reduction_threads),
                 &row_extremes_kernel<Pixel>, data<Pixel>(input), width_, step, data<float2>(rows));
  }

  void enqueue_isolated(backend::Queue& queue, const backend::Memory& input, int step,
                        const ImpulseStatistics& impulse_statistics,
                        backend::Memory& rows) override {
    launch_dependent(site_, queue, rows_grid(step), dim3(reduction_threads),
                 &row_isolated_kernel<Pixel>, data<Pixel>(input), width_, height_, step,
                 impulse_statistics.lowest, impulse_statistics.highest, data<float>(rows));
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input,
               const ImpulseStatistics& impulse_statistics, backend::Memory& output) override {
    launch_dependent(site_, queue, tile_grid(width_, height_, warp_lanes, row_block_height),
                 dim3(warp_lanes, row_block_height), &impulse_filter_kernel<Pixel>,
                 data<Pixel>(input), width_, height_, impulse_statistics.lowest,
                 impulse_statistics.highest, data<float>(output));
  }

 private:
  [[nodiscard]] dim3 rows_grid(int step) const {
    return dim3(static_cast<unsigned>(divide_up(height_, step)));
  }

  CallSite site_;
  int width_;
  int height_;
};

}  // namespace

template <>
std::unique_ptr<backend::ImpulseFilter> make(const Context& context,
                                             const ImpulseFilterSpec& spec) {
  switch (spec.input) {
    case PixelType::u8:
      return std::make_unique<ImpulseFilterStage<std::uint8_t>>(context, spec);
    case PixelType::u16:
      return std::make_unique<ImpulseFilterStage<std::uint16_t>>(context, spec);
    default:
      return std::make_unique<ImpulseFilterStage<float>>(context, spec);
  }
}

}  // namespace warpalign::cuda
