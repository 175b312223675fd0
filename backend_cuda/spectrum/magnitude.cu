// Stage: the magnitude of a half spectrum, centred.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/magnitude.h"

#include <warpalign/backend/stages/spectrum/magnitude.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::cuda {
namespace {

constexpr int rows_per_thread = 4;  // to have several loads in flight at a time
constexpr int rows_per_block = rows_per_thread * row_block_height;

__global__ void magnitude_kernel(const float2* __restrict__ spectrum, float* __restrict__ magnitude,
                                 int columns, int height, float half_exponent) {
  wait_for_previous_kernel();
  const int u = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (u >= columns) return;
  const int top = static_cast<int>(blockIdx.y * rows_per_block + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * rows_per_block);
  const int half = height / 2;
  for (int first = top; first < height; first += step) {
    float2 f[rows_per_thread];
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      const int v = min(first + k * row_block_height, height - 1);
      f[k] = spectrum[static_cast<long long>(v) * columns + u];
    }
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      const int v = first + k * row_block_height;
      if (v >= height) break;
      const int row = v + half >= height ? v + half - height : v + half;
      magnitude[static_cast<long long>(row) * columns + u] =
          wa_magnitude_power(f[k].x, f[k].y, half_exponent);
    }
  }
}

class MagnitudeStage final : public backend::Magnitude {
 public:
  MagnitudeStage(const Context& context, const MagnitudeSpec& spec)
      : site_{context, "magnitude"},
        columns_(extent(RealFftPlan::half_spectrum(spec.image).width, site_)),
        height_(extent(spec.image.height, site_)),
        half_exponent_(0.5F * spec.exponent) {
    load(&magnitude_kernel, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& spectrum,
               backend::Memory& magnitude) override {
    const dim3 grid = tile_grid(columns_, height_, warp_lanes, rows_per_block);
    launch_dependent(site_, queue, grid, dim3(warp_lanes, row_block_height), &magnitude_kernel,
                 data<float2>(spectrum), data<float>(magnitude), columns_, height_, half_exponent_);
  }

 private:
  CallSite site_;
  int columns_;
  int height_;
  float half_exponent_;
};

}  // namespace

template <>
std::unique_ptr<backend::Magnitude> make(const Context& context, const MagnitudeSpec& spec) {
  return std::make_unique<MagnitudeStage>(context, spec);
}

}  // namespace warpalign::cuda
