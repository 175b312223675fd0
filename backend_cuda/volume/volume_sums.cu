// Stage: sums over the overlap of two shifted volumes. Each warp processes rows of the overlap.
#include "device/block_sums.cuh"
#include "device/launch.hpp"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include "formulas/volume.h"

#include <warpalign/backend/stages/volume/volume_sums.hpp>

namespace warpalign::cuda {
namespace {

static_assert(WA_VOLUME_MOMENTS == backend::volume_moment_count);
static_assert(WA_VOLUME_STEP_SUMS == backend::volume_step_count);

/// A part of a volume: the sides of the whole volume, and the first voxel of the part.
struct Part {
  const float* voxels;
  Triple sides;
  Triple first;
};

/// Two parts of the same size.
struct Parts {
  Part reference, moving;
  Triple size;
};

__device__ __forceinline__ const float* row_of(const Part& part, int row, int rows) {
  const long long y = part.first.y + row % rows;
  const long long z = part.first.z + row / rows;
  return part.voxels + (z * part.sides.y + y) * part.sides.x + part.first.x;
}

/// Calls add(reference, moving) with pointers to the two voxels of every pair.
template <class Add>
__device__ __forceinline__ void for_each(const Parts& parts, Add add) {
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
  const int rows = parts.size.y * parts.size.z;
  for (int row = static_cast<int>(blockIdx.x) * row_warps + warp; row < rows;
       row += static_cast<int>(gridDim.x) * row_warps) {
    const float* r = row_of(parts.reference, row, parts.size.y);
    const float* m = row_of(parts.moving, row, parts.size.y);
    for (int x = lane; x < parts.size.x; x += warp_lanes) add(r + x, m + x);
  }
}

/// Marked volumes add their number of valid voxels as the last sum.
template <bool marked>
__global__ void __launch_bounds__(row_threads)
    volume_moments_kernel(const __grid_constant__ Parts parts, float* __restrict__ partials) {
  float sums[WA_VOLUME_MOMENTS + marked] = {};
  for_each(parts, [&](const float* r, const float* m) {
    if constexpr (marked) {
      if (wa_is_marked(__ldg(r)) || wa_is_marked(__ldg(m))) return;
      sums[WA_VOLUME_MOMENTS] += 1.0F;
    }
    wa_volume_add_moments(__ldg(r), __ldg(m), sums);
  });
  store_block_sums<row_warps>(sums, partials);
}

// The moving part begins at the first of the spline's neighbours of the first voxel's sample
// location.
template <bool marked>
__global__ void __launch_bounds__(row_threads)
    volume_step_kernel(const __grid_constant__ Parts parts, float3 fraction,
                       float* __restrict__ partials) {
  WaVolumeWeights weights;
  wa_volume_weights(fraction.x, fraction.y, fraction.z, &weights);
  const long long down = parts.moving.sides.x;
  const long long deep = down * parts.moving.sides.y;
  const long long reference_down = parts.reference.sides.x;
  const long long reference_deep = reference_down * parts.reference.sides.y;
  float sums[WA_VOLUME_STEP_SUMS + marked] = {};
  for_each(parts, [&](const float* r, const float* m) {
    float value_and_slopes[4] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float plane[3] = {};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float* c = m + k * deep + j * down;
        wa_volume_add_row(__ldg(c), __ldg(c + 1), __ldg(c + 2), __ldg(c + 3), &weights,
                          weights.y[j], weights.dy[j], plane);
      }
      wa_volume_add_plane(plane, weights.z[k], weights.dz[k], value_and_slopes);
    }
    const float slope[3] = {0.5f * (__ldg(r + 1) - __ldg(r - 1)),
                            0.5f * (__ldg(r + reference_down) - __ldg(r - reference_down)),
                            0.5f * (__ldg(r + reference_deep) - __ldg(r - reference_deep))};
    if constexpr (marked) {
      if (!wa_volume_is_valid(__ldg(r), slope, value_and_slopes)) return;
      sums[WA_VOLUME_STEP_SUMS] += 1.0F;
    }
    wa_volume_add_step(__ldg(r), slope, value_and_slopes, sums);
  });
  store_block_sums<row_warps>(sums, partials);
}

class VolumeSumsStage final : public backend::VolumeSums {
 public:
  VolumeSumsStage(const Context& context, const VolumeSumsSpec& spec)
      : site_{context, "volume_sums"},
        reference_(sides_of(spec.reference, site_)),
        moving_(sides_of(spec.moving, site_)),
        blocks_(row_blocks(spec.reference.height * spec.reference.depth, context)),
        moment_count_(backend::volume_moment_count + backend::added_count(spec)),
        moments_(spec.marked ? &volume_moments_kernel<true> : &volume_moments_kernel<false>),
        step_(spec.marked ? &volume_step_kernel<true> : &volume_step_kernel<false>) {
    load(moments_, site_);
    load(step_, site_);
  }

  [[nodiscard]] std::size_t groups() const noexcept override {
    return static_cast<std::size_t>(blocks_);
  }

  void enqueue_moments(backend::Queue& queue, const backend::Memory& reference,
                       const backend::Memory& moving, const backend::VolumeBox& box,
                       std::size_t slot, backend::Memory& partials) override {
    float* of_slot = data<float>(partials) + slot * moment_count_ * groups();
    launch(site_, queue, dim3(static_cast<unsigned>(blocks_)), dim3(row_threads), moments_,
           parts_of(reference, moving, box, 0), of_slot);
  }

  void enqueue_step(backend::Queue& queue, const backend::Memory& reference,
                    const backend::Memory& moving, const backend::VolumeBox& box,
                    const std::array<float, 3>& fraction, backend::Memory& partials) override {
    launch(site_, queue, dim3(static_cast<unsigned>(blocks_)), dim3(row_threads), step_,
           parts_of(reference, moving, box, 1), make_float3(fraction[0], fraction[1], fraction[2]),
           data<float>(partials));
  }

 private:
  /// The moving part begins `before` voxels before the voxel that corresponds to the first voxel of
  /// the box.
  [[nodiscard]] Parts parts_of(const backend::Memory& reference, const backend::Memory& moving,
                               const backend::VolumeBox& box, int before) const {
    const Triple first = triple_of(box.first);
    const Triple shift = triple_of(box.shift);
    return {{data<float>(reference), reference_, first},
            {data<float>(moving),
             moving_,
             {first.x + shift.x - before, first.y + shift.y - before, first.z + shift.z - before}},
            triple_of(box.size)};
  }

  CallSite site_;
  Triple reference_, moving_;
  std::int64_t blocks_;
  std::size_t moment_count_;
  decltype(&volume_moments_kernel<false>) moments_;
  decltype(&volume_step_kernel<false>) step_;
};

}  // namespace

template <>
std::unique_ptr<backend::VolumeSums> make(const Context& context, const VolumeSumsSpec& spec) {
  return std::make_unique<VolumeSumsStage>(context, spec);
}

}  // namespace warpalign::cuda
