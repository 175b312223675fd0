// Stage: the normalised cross-power spectrum (registration paper, equation 4).
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/spectrum.h"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/stages/fft.hpp>

#include <algorithm>

namespace warpalign::cuda {
namespace {

struct Grid {
  int columns, height, depth;             // of the half spectrum
  int a_rows, b_rows;                     // in all images, or in a volume
  float rho_per_u, rho_per_v, rho_per_w;  // 2 / width, 2 / height, 2 / depth of the image
  float falloff;                          // of the Gaussian weight; 0 for no weight
};

// z / |z|, or 0 if that is undefined. Each spectrum is normalised separately, because the product
// of two large coefficients would overflow.
__device__ __forceinline__ float2 phase(float2 z) {
  const float r = wa_reciprocal_magnitude(z.x, z.y);
  return r > 0.0f ? make_float2(z.x * r, z.y * r) : make_float2(0.0f, 0.0f);
}

// The weighted products w a b and w a conj(b).
__device__ __forceinline__ float2 weighted_product(float w, float2 a, float2 b) {
  return make_float2(w * (a.x * b.x - a.y * b.y), w * (a.x * b.y + a.y * b.x));
}
__device__ __forceinline__ float2 weighted_product_conjugate(float w, float2 a, float2 b) {
  return weighted_product(w, a, make_float2(b.x, -b.y));
}

template <bool volume>
__device__ __forceinline__ float weight_of(float rho_x, int row, const Grid& g) {
  const int v = volume ? row % g.height : row;
  const float rho_y = static_cast<float>(wa_signed_frequency(v, g.height)) * g.rho_per_v;
  float rho_square = fmaf(rho_x, rho_x, rho_y * rho_y);
  if constexpr (volume) {
    const float rho_z =
        static_cast<float>(wa_signed_frequency(row / g.height, g.depth)) * g.rho_per_w;
    rho_square = fmaf(rho_z, rho_z, rho_square);
  }
  return wa_gaussian_weight(rho_square, g.falloff);
}

/// The shape of the spectra: images whose stacks may have different depths, one image, or a volume.
enum class Of { image, stack, volume };

template <bool with_rotated_180, Of of>
__global__ void cross_power_kernel(const float2* __restrict__ a, const float2* __restrict__ b,
                                   float2* __restrict__ output, Grid g) {
  wait_for_previous_kernel();
  const int u = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (u >= g.columns) return;
  const int top = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * row_block_height);
  const long long slice = static_cast<long long>(g.columns) * g.height;
  const float rho_x = static_cast<float>(u) * g.rho_per_u;
  const int rows = of == Of::image ? g.height : max(g.a_rows, g.b_rows);
  for (int row = top; row < rows; row += step) {
    const long long i = static_cast<long long>(row) * g.columns + u;
    // The stack with fewer images repeats from its beginning.
    const bool stack = of == Of::stack;
    const long long in_a = stack ? static_cast<long long>(row % g.a_rows) * g.columns + u : i;
    const long long in_b = stack ? static_cast<long long>(row % g.b_rows) * g.columns + u : i;
    const float w = weight_of<of == Of::volume>(rho_x, stack ? row % g.height : row, g);
    const float2 phase_a = phase(a[in_a]);
    const float2 phase_b = phase(b[in_b]);
    output[i] = weighted_product_conjugate(w, phase_a, phase_b);
    if constexpr (with_rotated_180) output[slice + i] = weighted_product(w, phase_a, phase_b);
  }
}

Grid grid_of(const CrossPowerSpec& spec, const CallSite& site) {
  const double sigma = spec.sigma;
  return {extent(RealFftPlan::half_spectrum(spec.image).width, site),
          extent(spec.image.height, site),
          extent(spec.image.depth, site),
          extent(spec.image.height * spec.image.depth * spec.first_images, site),
          extent(spec.image.height * spec.image.depth * spec.second_images, site),
          static_cast<float>(2.0 / static_cast<double>(spec.image.width)),
          static_cast<float>(2.0 / static_cast<double>(spec.image.height)),
          static_cast<float>(2.0 / static_cast<double>(spec.image.depth)),
          sigma > 0 ? static_cast<float>(1.0 / (2.0 * sigma * sigma)) : 0.0F};
}

using Kernel = void (*)(const float2*, const float2*, float2*, Grid);

Kernel kernel_for(const CrossPowerSpec& spec) {
  if (spec.image.depth > 1) return &cross_power_kernel<false, Of::volume>;
  if (backend::images_of(spec) > 1) return &cross_power_kernel<false, Of::stack>;
  return spec.with_rotated_180 ? &cross_power_kernel<true, Of::image>
                               : &cross_power_kernel<false, Of::image>;
}

class CrossPowerStage final : public backend::CrossPower {
 public:
  CrossPowerStage(const Context& context, const CrossPowerSpec& spec)
      : site_{context, "cross_power"}, grid_(grid_of(spec, site_)), kernel_(kernel_for(spec)) {
    load(kernel_, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& a, const backend::Memory& b,
               backend::Memory& output) override {
    const dim3 blocks = tile_grid(grid_.columns, std::max(grid_.a_rows, grid_.b_rows), warp_lanes,
                                  row_block_height);
    launch_dependent(site_, queue, blocks, dim3(warp_lanes, row_block_height), kernel_, data<float2>(a),
                 data<float2>(b), data<float2>(output), grid_);
  }

 private:
  CallSite site_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::CrossPower> make(const Context& context, const CrossPowerSpec& spec) {
  return std::make_unique<CrossPowerStage>(context, spec);
}

}  // namespace warpalign::cuda
