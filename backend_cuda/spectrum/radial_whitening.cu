// Stage: the radial profile divided out of a log-polar spectrum.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>

namespace warpalign::cuda {
namespace {

constexpr int columns = 8;
constexpr int rows = 32;

// A block takes `columns` radii; its rows of threads share the angles.
__global__ void __launch_bounds__(columns* rows)
    radial_whitening_kernel(float* __restrict__ image, int width, int height) {
  await_previous();
  __shared__ float sums[rows][columns];
  __shared__ float counts[rows][columns];
  const int column = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * columns + column;
  float sum = 0.0f;
  float count = 0.0f;
  if (x < width) {
    for (int y = row; y < height; y += rows) {
      const float value = image[y * width + x];
      sum += value;
      count += value != 0.0f ? 1.0f : 0.0f;
    }
  }
  sums[row][column] = sum;
  counts[row][column] = count;
  __syncthreads();
  for (int half_rows = rows / 2; half_rows > 0; half_rows /= 2) {
    if (row < half_rows) {
      sums[row][column] += sums[row + half_rows][column];
      counts[row][column] += counts[row + half_rows][column];
    }
    __syncthreads();
  }
  if (x >= width || !(sums[0][column] > 0.0f)) return;
  const float one_over_mean = counts[0][column] / sums[0][column];
  for (int y = row; y < height; y += rows) {
    const float value = image[y * width + x];
    if (value != 0.0f) image[y * width + x] = fmaf(value, one_over_mean, -1.0f);
  }
}

class RadialWhiteningStage final : public backend::RadialWhitening {
 public:
  RadialWhiteningStage(const Context& context, const RadialWhiteningSpec& spec)
      : site_{context, "radial_whitening"},
        width_(extent(spec.image.width, site_)),
        height_(extent(spec.image.height, site_)) {
    load(&radial_whitening_kernel, site_);
  }

  void enqueue(backend::Queue& queue, backend::Memory& image) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(divide_up(width_, columns))),
                 dim3(columns, rows), &radial_whitening_kernel, data<float>(image), width_,
                 height_);
  }

 private:
  CallSite site_;
  int width_;
  int height_;
};

}  // namespace

template <>
std::unique_ptr<backend::RadialWhitening> make(const Context& context,
                                               const RadialWhiteningSpec& spec) {
  return std::make_unique<RadialWhiteningStage>(context, spec);
}

}  // namespace warpalign::cuda
