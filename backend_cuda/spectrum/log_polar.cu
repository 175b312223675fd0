// Stage: log-polar resampling of a centred spectrum magnitude (registration paper, equations 11
// to 13).
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "filter/axis_tables.hpp"

#include "formulas/bilinear.h"
#include "formulas/log_polar.h"

#include <warpalign/backend/stages/spectrum/log_polar.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::cuda {
namespace {

// A warp covers 8 radii x 4 angles: 32 radii along a ray far from the centre could touch 32 rows of
// the spectrum, and as many cache lines.
constexpr int block_radii = 8;
constexpr int block_angles = 32;
constexpr int rows_per_thread = 2;  // to have several loads in flight at a time
constexpr int rows_per_block = rows_per_thread * block_angles;

struct Map {
  int columns, height;  // of the magnitude
  int radii, angles;    // of the output
  float nyquist_u, nyquist_v;
  const float* __restrict__ radius;      // of each column
  const float2* __restrict__ direction;  // of each row: (u, v) per unit of radius
};

// The magnitude at frequency (u, v), within both Nyquist frequencies.
__device__ __forceinline__ float sample(const float* __restrict__ magnitude, const Map& m, float u,
                                        float v) {
  int above, below, right;
  float x, y;
  wa_half_plane_cell(u, v, m.columns, m.height, &above, &below, &right, &x, &y);
  const float* upper = magnitude + above;
  const float* lower = magnitude + below;
  return wa_bilinear(upper[0], upper[right], lower[0], lower[right], x, y);
}

__global__ void log_polar_kernel(const float* __restrict__ magnitude, float* __restrict__ output,
                                 Map m) {
  wait_for_previous_kernel();
  const int i = static_cast<int>(blockIdx.x * block_radii + threadIdx.x);
  if (i >= m.radii) return;
  const int top = static_cast<int>(blockIdx.y * rows_per_block + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * rows_per_block);
  const float radius = m.radius[i];
  for (int first = top; first < m.angles; first += step) {
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      const int j = first + k * block_angles;
      if (j >= m.angles) break;
      const float2 direction = m.direction[j];
      const float u = radius * direction.x;
      const float v = radius * direction.y;
      float value = 0.0f;
      if (u <= m.nyquist_u && WA_FABS(v) <= m.nyquist_v) value = sample(magnitude, m, u, v);
      output[static_cast<long long>(j) * m.radii + i] = value;
    }
  }
}

class LogPolarStage final : public backend::LogPolar {
 public:
  LogPolarStage(const Context& context, const LogPolarSpec& spec,
                const backend::LogPolarPoints& points)
      : site_{context, "log_polar"},
        radii_(upload(site_, points.radii)),
        directions_(upload(site_, points.directions)),
        map_{extent(RealFftPlan::half_spectrum(spec.image).width, site_),
             extent(spec.image.height, site_),
             extent(spec.output.width, site_),
             extent(spec.output.height, site_),
             0.5F * static_cast<float>(spec.image.width),
             0.5F * static_cast<float>(spec.image.height),
             radii_.as<float>(),
             directions_.as<float2>()} {
    load(&log_polar_kernel, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& magnitude,
               backend::Memory& output) override {
    const dim3 grid = tile_grid(map_.radii, map_.angles, block_radii, rows_per_block);
    launch_dependent(site_, queue, grid, dim3(block_radii, block_angles), &log_polar_kernel,
                 data<float>(magnitude), data<float>(output), map_);
  }

 private:
  CallSite site_;
  Constants radii_, directions_;
  Map map_;
};

}  // namespace

template <>
std::unique_ptr<backend::LogPolar> make(const Context& context,
                                        const backend::LogPolar::Setup& setup) {
  const auto& [spec, points] = setup;
  return std::make_unique<LogPolarStage>(context, spec, points);
}

}  // namespace warpalign::cuda
