// Stage: the normalised cross-power spectrum (registration paper, equation 4).
#include "launch.hpp"
#include "memory.hpp"
#include "stages.hpp"

#include "formulas/spectrum.h"

namespace warpalign::cuda {
namespace {

struct Grid {
  int columns, height;         // of the half spectrum
  float rho_per_u, rho_per_v;  // 2 / width, 2 / height of the image
  float falloff;               // of the Gaussian weight, 0 for none
};

// z / |z|, and 0 where that is undefined. Each spectrum is normalised by itself, because the
// product of two large coefficients overflows.
__device__ __forceinline__ float2 phase(float2 z) {
  const float r = wa_reciprocal_magnitude(z.x, z.y);
  return r > 0.0f ? make_float2(z.x * r, z.y * r) : make_float2(0.0f, 0.0f);
}

// w a b, or w a conj(b).
__device__ __forceinline__ float2 weighted_product(float w, float2 a, float2 b) {
  return make_float2(w * (a.x * b.x - a.y * b.y), w * (a.x * b.y + a.y * b.x));
}
__device__ __forceinline__ float2 weighted_product_conjugate(float w, float2 a, float2 b) {
  return weighted_product(w, a, make_float2(b.x, -b.y));
}

template <bool half_turns>
__global__ void cross_power_kernel(const float2* __restrict__ a, const float2* __restrict__ b,
                                   float2* __restrict__ output, Grid g) {
  const int u = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (u >= g.columns) return;
  const int top = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * row_block_height);
  const long long slice = static_cast<long long>(g.columns) * g.height;
  const float rho_x = static_cast<float>(u) * g.rho_per_u;
  for (int v = top; v < g.height; v += step) {
    const long long i = static_cast<long long>(v) * g.columns + u;
    const float rho_y = static_cast<float>(wa_signed_frequency(v, g.height)) * g.rho_per_v;
    const float w = wa_gaussian_weight(rho_x, rho_y, g.falloff);
    const float2 phase_a = phase(a[i]);
    const float2 phase_b = phase(b[i]);
    output[i] = weighted_product_conjugate(w, phase_a, phase_b);
    if constexpr (half_turns) output[slice + i] = weighted_product(w, phase_a, phase_b);
  }
}

Grid grid_of(const CrossPowerSpec& spec, const Place& place) {
  const double sigma = spec.sigma;
  return {extent(RealFftPlan::half_spectrum(spec.image).width, place),
          extent(spec.image.height, place),
          static_cast<float>(2.0 / static_cast<double>(spec.image.width)),
          static_cast<float>(2.0 / static_cast<double>(spec.image.height)),
          sigma > 0 ? static_cast<float>(1.0 / (2.0 * sigma * sigma)) : 0.0F};
}

class CrossPowerStage final : public backend::CrossPower {
 public:
  CrossPowerStage(const Context& context, const CrossPowerSpec& spec)
      : place_{context, "cross_power"},
        grid_(grid_of(spec, place_)),
        kernel_(spec.half_turns ? &cross_power_kernel<true> : &cross_power_kernel<false>) {
    load(kernel_, place_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& a, const backend::Memory& b,
               backend::Memory& output) override {
    const dim3 blocks = tile_grid(grid_.columns, grid_.height, warp_lanes, row_block_height);
    launch(place_, queue, blocks, dim3(warp_lanes, row_block_height), kernel_, data<float2>(a),
           data<float2>(b), data<float2>(output), grid_);
  }

 private:
  Place place_;
  Grid grid_;
  void (*kernel_)(const float2*, const float2*, float2*, Grid);
};

}  // namespace

std::unique_ptr<backend::CrossPower> make_cross_power(const Context& context,
                                                      const CrossPowerSpec& spec) {
  return std::make_unique<CrossPowerStage>(context, spec);
}

}  // namespace warpalign::cuda
