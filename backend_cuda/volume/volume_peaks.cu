// Stage: the highest peaks of a volume. Each thread processes one brick at a time.
#include "device/launch.hpp"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include <warpalign/backend/stages/volume/volume_peaks.hpp>

namespace warpalign::cuda {
namespace {

constexpr int threads = 128;
constexpr int brick_x = static_cast<int>(backend::brick.width);
constexpr int brick_y = static_cast<int>(backend::brick.height);
constexpr int brick_z = static_cast<int>(backend::brick.depth);

static_assert(sizeof(backend::BrickRecord) == sizeof(uint2), "the kernel writes two words");

// Whether index i of a periodic axis of n is within `reach` of 0. A reach of 0 allows any index.
__device__ __forceinline__ bool within_reach(int i, int n, int reach) {
  return reach == 0 || i <= reach || n - i <= reach;
}

__device__ __forceinline__ uint2 best_of_brick(const float* __restrict__ surface, Triple size,
                                               Triple reach, Triple first) {
  float best = __int_as_float(static_cast<int>(0xff800000U));
  unsigned position = 0;
  for (int k = 0; k < brick_z; ++k) {
    const int z = first.z + k;
    if (z >= size.z || !within_reach(z, size.z, reach.z)) continue;
    for (int j = 0; j < brick_y; ++j) {
      const int y = first.y + j;
      if (y >= size.y || !within_reach(y, size.y, reach.y)) continue;
      const float* row = surface + (static_cast<long long>(z) * size.y + y) * size.x + first.x;
      for (int i = 0; i < brick_x; ++i) {
        if (first.x + i >= size.x || !within_reach(first.x + i, size.x, reach.x)) continue;
        const float value = __ldg(row + i);
        if (value > best) {
          best = value;
          position = static_cast<unsigned>((k * brick_y + j) * brick_x + i);
        }
      }
    }
  }
  return make_uint2(__float_as_uint(best), position);
}

__global__ void __launch_bounds__(threads)
    volume_peaks_kernel(const float* __restrict__ surface, Triple size, Triple reach, Triple bricks,
                        uint2* __restrict__ records) {
  const long long count = static_cast<long long>(bricks.x) * bricks.y * bricks.z;
  const long long step = static_cast<long long>(gridDim.x) * threads;
  for (long long brick = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; brick < count;
       brick += step) {
    const auto row = static_cast<int>(brick / bricks.x);
    const Triple first{static_cast<int>(brick % bricks.x) * brick_x, row % bricks.y * brick_y,
                       row / bricks.y * brick_z};
    records[brick] = best_of_brick(surface, size, reach, first);
  }
}

class VolumePeaksStage final : public backend::VolumePeaks {
 public:
  VolumePeaksStage(const Context& context, const VolumePeaksSpec& spec)
      : site_{context, "volume_peaks"},
        size_(sides_of(spec.surface, site_)),
        bricks_(sides_of(backend::bricks_of(spec.surface), site_)),
        blocks_(
            std::clamp<std::int64_t>(divide_up(backend::bricks_of(spec.surface).pixels(), threads),
                                     1, 64 * std::int64_t{context.multiprocessors})) {
    load(&volume_peaks_kernel, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& surface,
               const std::array<std::int64_t, 3>& reach, backend::Memory& records) override {
    launch(site_, queue, dim3(static_cast<unsigned>(blocks_)), dim3(threads), &volume_peaks_kernel,
           data<float>(surface), size_, triple_of(reach), bricks_, data<uint2>(records));
  }

 private:
  CallSite site_;
  Triple size_, bricks_;
  std::int64_t blocks_;
};

}  // namespace

template <>
std::unique_ptr<backend::VolumePeaks> make(const Context& context, const VolumePeaksSpec& spec) {
  return std::make_unique<VolumePeaksStage>(context, spec);
}

}  // namespace warpalign::cuda
