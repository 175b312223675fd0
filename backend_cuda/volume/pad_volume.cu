// Stage: subtract an offset from a volume's voxels, scale and taper them, and copy them to a padded
// frame.
#include "device/launch.hpp"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include "formulas/marked_volume.h"
#include "formulas/window.h"

#include <warpalign/backend/stages/volume/pad_volume.hpp>

#include <cstdint>

namespace warpalign::cuda {
namespace {

/// Lengths of the taper along the axes, in voxels.
struct Ramps {
  float x, y, z;
};

template <class Pixel, bool marked>
__global__ void __launch_bounds__(warp_lanes* row_block_height)
    pad_volume_kernel(const Pixel* __restrict__ input, Triple size, VolumeLevels levels,
                      Ramps ramps, float* __restrict__ padded, Triple padded_size) {
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (x >= padded_size.x) return;
  const int rows = padded_size.y * padded_size.z;
  for (int row = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y); row < rows;
       row += static_cast<int>(gridDim.y * row_block_height)) {
    const int y = row % padded_size.y;
    const int z = row / padded_size.y;
    float result = 0.0f;
    if (x < size.x && y < size.y && z < size.z) {
      const long long at = (static_cast<long long>(z) * size.y + y) * size.x + x;
      const float weight = wa_tukey_window(x, size.x, ramps.x) *
                           wa_tukey_window(y, size.y, ramps.y) *
                           wa_tukey_window(z, size.z, ramps.z);
      result = (static_cast<float>(input[at]) - levels.offset) * levels.scale * weight;
      if (marked && wa_is_marked(result)) result = 0.0f;
    }
    padded[static_cast<long long>(row) * padded_size.x + x] = result;
  }
}

float ramp_of(const PadVolumeSpec& spec, std::int64_t side) {
  return static_cast<float>(spec.taper * static_cast<double>(side));
}

template <class Pixel, bool marked = false>
class PadVolumeStage final : public backend::PadVolume {
 public:
  PadVolumeStage(const Context& context, const PadVolumeSpec& spec)
      : site_{context, "pad_volume"},
        size_(sides_of(spec.input, site_)),
        padded_size_(sides_of(spec.padded, site_)),
        ramps_{ramp_of(spec, spec.input.width), ramp_of(spec, spec.input.height),
               ramp_of(spec, spec.input.depth)} {
    load(&pad_volume_kernel<Pixel, marked>, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const VolumeLevels& levels,
               backend::Memory& padded) override {
    const dim3 blocks =
        tile_grid(padded_size_.x, padded_size_.y * padded_size_.z, warp_lanes, row_block_height);
    launch(site_, queue, blocks, dim3(warp_lanes, row_block_height),
           &pad_volume_kernel<Pixel, marked>, data<Pixel>(input), size_, levels, ramps_,
           data<float>(padded), padded_size_);
  }

 private:
  CallSite site_;
  Triple size_, padded_size_;
  Ramps ramps_;
};

}  // namespace

template <>
std::unique_ptr<backend::PadVolume> make(const Context& context, const PadVolumeSpec& spec) {
  switch (spec.input_type) {
    case PixelType::u8:
      return std::make_unique<PadVolumeStage<std::uint8_t>>(context, spec);
    case PixelType::u16:
      return std::make_unique<PadVolumeStage<std::uint16_t>>(context, spec);
    default:
      if (spec.marked) return std::make_unique<PadVolumeStage<float, true>>(context, spec);
      return std::make_unique<PadVolumeStage<float>>(context, spec);
  }
}

}  // namespace warpalign::cuda
