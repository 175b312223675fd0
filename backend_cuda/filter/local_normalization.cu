// Stage: local normalization of brightness and contrast. Moments are summed along rows, then along
// columns.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "filter/axis_tables.hpp"

#include "formulas/local_normalization.h"

#include <warpalign/backend/stages/filter/local_normalization.hpp>

namespace warpalign::cuda {
namespace {

struct LocalImage {
  const float* __restrict__ input;
  const float* __restrict__ counts;  // the weight of each pixel, if masked
  int width, height;
  backend::SquaredLevels of_all;
  const backend::SquaredLevels* __restrict__ of_each;  // null: all rows have the same
  int rows_of_image;

  [[nodiscard]] __device__ backend::SquaredLevels levels_of(int y) const {
    return of_each == nullptr ? of_all : of_each[y / rows_of_image];
  }
};

// Writes the moments (sum of weights, of values, of squares, 0) of the values minus the mean of
// their image.
template <bool masked>
__global__ void __launch_bounds__(warp_lanes* row_block_height)
    local_moments_kernel(LocalImage image, Axis axis, float4* __restrict__ moments) {
  wait_for_previous_kernel();
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (x >= image.width) return;
  const int first = __ldg(axis.first + x);
  for (int y = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y); y < image.height;
       y += static_cast<int>(gridDim.y * row_block_height)) {
    const long long row = static_cast<long long>(y) * image.width;
    const float* weights = axis.weights + x;
    const float mean = image.levels_of(y).mean;
    float4 sum{};
    for (int k = 0; k < axis.taps; ++k, weights += axis.n) {
      float weight = __ldg(weights);
      if constexpr (masked) weight *= __ldg(image.counts + row + first + k);
      const float value = __ldg(image.input + row + first + k) - mean;
      sum.x += weight;
      sum.y = fmaf(weight, value, sum.y);
      sum.z = fmaf(weight, value * value, sum.z);
    }
    moments[row + x] = sum;
  }
}

template <bool masked>
__global__ void __launch_bounds__(warp_lanes* row_block_height)
    normalize_kernel(LocalImage image, Axis axis, const float4* __restrict__ moments,
                     float* __restrict__ output) {
  wait_for_previous_kernel();
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (x >= image.width) return;
  for (int y = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y); y < image.height;
       y += static_cast<int>(gridDim.y * row_block_height)) {
    const long long at = static_cast<long long>(y) * image.width + x;
    if constexpr (masked) {
      if (__ldg(image.counts + at) < 0.5f) {
        output[at] = 0.0f;
        continue;
      }
    }
    const float4* column =
        moments + static_cast<long long>(__ldg(axis.first + y)) * image.width + x;
    const float* weights = axis.weights + y;
    float total = 0.0f, values = 0.0f, squares = 0.0f;
    for (int k = 0; k < axis.taps; ++k, column += image.width, weights += axis.n) {
      const float weight = __ldg(weights);
      const float4 moment = *column;
      total = fmaf(weight, moment.x, total);
      values = fmaf(weight, moment.y, values);
      squares = fmaf(weight, moment.z, squares);
    }
    const backend::SquaredLevels levels = image.levels_of(y);
    output[at] = wa_normalize(__ldg(image.input + at) - levels.mean, total, values, squares,
                              levels.floor_square);
  }
}

template <bool masked>
class LocalNormalizationStage final : public backend::LocalNormalization {
 public:
  LocalNormalizationStage(const Context& context, const LocalNormalizationSpec& spec,
                          const backend::PlaneWeights& weights, std::int64_t rows_of_image)
      : site_{context, "local_normalization"},
        width_(extent(spec.shape.width, site_)),
        height_(extent(spec.shape.height, site_)),
        rows_of_image_(extent(rows_of_image, site_)),
        x_(site_, weights.x),
        y_(site_, weights.y),
        moments_(site_, static_cast<std::size_t>(spec.shape.plane()) * sizeof(float4)),
        scratch_guard_(site_) {
    load(&local_moments_kernel<masked>, site_);
    load(&normalize_kernel<masked>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const backend::Memory* weight,
               const backend::KnownLevels& levels, backend::Memory& output) override {
    site_.context.activate();
    scratch_guard_.enter(queue);
    const LocalImage image{
        data<float>(input),
        weight == nullptr ? nullptr : data<float>(*weight),
        width_,
        height_,
        levels.of_all,
        levels.of_each == nullptr ? nullptr : data<backend::SquaredLevels>(*levels.of_each),
        rows_of_image_};
    const dim3 grid = tile_grid(width_, height_, warp_lanes, row_block_height);
    const dim3 block(warp_lanes, row_block_height);
    launch_dependent(site_, queue, grid, block, &local_moments_kernel<masked>, image, x_.axis(),
                     moments_.as<float4>());
    launch_dependent(site_, queue, grid, block, &normalize_kernel<masked>, image, y_.axis(),
                     moments_.as<const float4>(), data<float>(output));
  }

 private:
  CallSite site_;
  int width_, height_, rows_of_image_;
  AxisTable x_, y_;
  DeviceMemory moments_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::LocalNormalization> make(const Context& context,
                                                  const backend::LocalNormalization::Setup& setup) {
  const auto& [spec, weights, rows] = setup;
  if (spec.masked) {
    return std::make_unique<LocalNormalizationStage<true>>(context, spec, weights, rows);
  }
  return std::make_unique<LocalNormalizationStage<false>>(context, spec, weights, rows);
}

}  // namespace warpalign::cuda
