// Stage: the edge strength in a volume, from its gradient.
#include "device/launch.hpp"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include "formulas/volume_edges.h"

#include <warpalign/backend/stages/volume/volume_edges.hpp>

namespace warpalign::cuda {
namespace {

/// The slope at voxel i of n. Voxel 0 is at `line`, and the others follow at each `step`.
__device__ __forceinline__ float slope_along(const float* line, long long step, int i, int n,
                                             float factor) {
  return wa_voxel_slope(__ldg(line + wa_voxel_before(i) * step),
                        __ldg(line + wa_voxel_after(i, n) * step), i, n, factor);
}

__global__ void __launch_bounds__(warp_lanes* row_block_height)
    volume_edges_kernel(const float* __restrict__ volume, Triple size, float3 factors,
                        EdgeCurve curve, float* __restrict__ edges) {
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (x >= size.x) return;
  const long long across = size.x;
  const long long plane = across * size.y;
  const int rows = size.y * size.z;
  for (int row = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y); row < rows;
       row += static_cast<int>(gridDim.y * row_block_height)) {
    const int y = row % size.y;
    const int z = row / size.y;
    const float slope_x = slope_along(volume + row * across, 1, x, size.x, factors.x);
    const float slope_y = slope_along(volume + z * plane + x, across, y, size.y, factors.y);
    const float slope_z = slope_along(volume + y * across + x, plane, z, size.z, factors.z);
    edges[row * across + x] =
        wa_edge_strength(slope_x, slope_y, slope_z, curve.share, curve.epsilon);
  }
}

class VolumeEdgesStage final : public backend::VolumeEdges {
 public:
  VolumeEdgesStage(const Context& context, const VolumeEdgesSpec& spec)
      : site_{context, "volume_edges"}, size_(sides_of(spec.shape, site_)) {
    const auto factors = backend::slope_factors(spec);
    factors_ = make_float3(factors[0], factors[1], factors[2]);
    load(&volume_edges_kernel, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& volume, const EdgeCurve& curve,
               backend::Memory& edges) override {
    const dim3 blocks = tile_grid(size_.x, size_.y * size_.z, warp_lanes, row_block_height);
    launch(site_, queue, blocks, dim3(warp_lanes, row_block_height), &volume_edges_kernel,
           data<float>(volume), size_, factors_, curve, data<float>(edges));
  }

 private:
  CallSite site_;
  Triple size_;
  float3 factors_{};
};

}  // namespace

template <>
std::unique_ptr<backend::VolumeEdges> make(const Context& context, const VolumeEdgesSpec& spec) {
  return std::make_unique<VolumeEdgesStage>(context, spec);
}

}  // namespace warpalign::cuda
