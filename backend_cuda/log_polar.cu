// Stage: log-polar resampling of a centred spectrum magnitude (registration paper, equations 11
// to 13).
#include "launch.hpp"
#include "memory.hpp"
#include "stages.hpp"

#include "formulas/bilinear.h"
#include "formulas/log_polar.h"

namespace warpalign::cuda {
namespace {

struct Map {
  int columns, height;  // of the magnitude
  int radii, angles;    // of the output
  float log_base;
  float one_over_angles;
  float u_per_radius;          // width / size
  float v_per_radius;          // height / size
  float nyquist_u, nyquist_v;  // width / 2, height / 2
};

// The rows of frequencies v and v + 1 in the magnitude, where v = 0 stands in row height / 2.
// -height / 2 - 1 <= v <= height / 2, so one turn is enough.
__device__ __forceinline__ int wrapped_row(int v, int height) {
  const int row = v + height / 2;
  return row < 0 ? row + height : (row >= height ? row - height : row);
}

// The magnitude at frequency (u, v), 0 <= u. Columns repeat the last one, rows wrap around.
__device__ __forceinline__ float sample(const float* __restrict__ magnitude, const Map& m, float u,
                                        float v) {
  const float whole_u = WA_FLOOR(u);
  const float whole_v = WA_FLOOR(v);
  const int left = min(static_cast<int>(whole_u), m.columns - 1);
  const int right = min(left + 1, m.columns - 1);
  const int v0 = static_cast<int>(whole_v);
  const float* upper = magnitude + static_cast<long long>(wrapped_row(v0, m.height)) * m.columns;
  const float* lower =
      magnitude + static_cast<long long>(wrapped_row(v0 + 1, m.height)) * m.columns;
  return wa_bilinear(upper[left], upper[right], lower[left], lower[right], u - whole_u,
                     v - whole_v);
}

__global__ void log_polar_kernel(const float* __restrict__ magnitude, float* __restrict__ output,
                                 Map m) {
  const int i = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (i >= m.radii) return;
  const int top = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y);
  const int step = static_cast<int>(gridDim.y * row_block_height);
  const float radius = wa_log_polar_radius(i, m.log_base);
  for (int j = top; j < m.angles; j += step) {
    const float half_turns = wa_log_polar_half_turns(j, m.one_over_angles);
    const float u = fmaxf(radius * WA_COSPI(half_turns) * m.u_per_radius, 0.0f);
    const float v = radius * WA_SINPI(half_turns) * m.v_per_radius;
    float value = 0.0f;
    if (u <= m.nyquist_u && WA_FABS(v) <= m.nyquist_v) value = sample(magnitude, m, u, v);
    output[static_cast<long long>(j) * m.radii + i] = value;
  }
}

Map map_of(const LogPolarSpec& spec, const Place& place) {
  const LogPolarGrid grid = LogPolarPlan::grid(spec);
  const auto width = static_cast<double>(spec.image.width);
  const auto height = static_cast<double>(spec.image.height);
  Map map{};
  map.columns = extent(RealFftPlan::half_spectrum(spec.image).width, place);
  map.height = extent(spec.image.height, place);
  map.radii = extent(spec.output.width, place);
  map.angles = extent(spec.output.height, place);
  map.log_base = static_cast<float>(grid.log_base);
  map.one_over_angles = static_cast<float>(1.0 / static_cast<double>(spec.output.height));
  map.u_per_radius = static_cast<float>(width / grid.size);
  map.v_per_radius = static_cast<float>(height / grid.size);
  map.nyquist_u = static_cast<float>(width / 2);
  map.nyquist_v = static_cast<float>(height / 2);
  return map;
}

class LogPolarStage final : public backend::LogPolar {
 public:
  LogPolarStage(const Context& context, const LogPolarSpec& spec)
      : place_{context, "log_polar"}, map_(map_of(spec, place_)) {
    load(&log_polar_kernel, place_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& magnitude,
               backend::Memory& output) override {
    const dim3 grid = tile_grid(map_.radii, map_.angles, warp_lanes, row_block_height);
    launch(place_, queue, grid, dim3(warp_lanes, row_block_height), &log_polar_kernel,
           data<float>(magnitude), data<float>(output), map_);
  }

 private:
  Place place_;
  Map map_;
};

}  // namespace

std::unique_ptr<backend::LogPolar> make_log_polar(const Context& context,
                                                  const LogPolarSpec& spec) {
  return std::make_unique<LogPolarStage>(context, spec);
}

}  // namespace warpalign::cuda
