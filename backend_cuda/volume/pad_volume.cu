// Stage: a volume's voxels levelled, tapered, and placed on a canvas.
#include "device/launch.hpp"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include "formulas/window.h"

#include <warpalign/backend/stages/volume/pad_volume.hpp>

#include <cstdint>

namespace warpalign::cuda {
namespace {

/// Lengths of the taper along the axes, in voxels.
struct Ramps {
  float x, y, z;
};

template <class Pixel>
__global__ void __launch_bounds__(warp_lanes* row_block_height)
    volume_canvas_kernel(const Pixel* __restrict__ input, Triple size, VolumeLevels levels,
                         Ramps ramps, float* __restrict__ canvas, Triple canvas_size) {
  const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x);
  if (x >= canvas_size.x) return;
  const int rows = canvas_size.y * canvas_size.z;
  for (int row = static_cast<int>(blockIdx.y * row_block_height + threadIdx.y); row < rows;
       row += static_cast<int>(gridDim.y * row_block_height)) {
    const int y = row % canvas_size.y;
    const int z = row / canvas_size.y;
    float result = 0.0f;
    if (x < size.x && y < size.y && z < size.z) {
      const long long at = (static_cast<long long>(z) * size.y + y) * size.x + x;
      const float weight = wa_tukey_window(x, size.x, ramps.x) *
                           wa_tukey_window(y, size.y, ramps.y) *
                           wa_tukey_window(z, size.z, ramps.z);
      result = (static_cast<float>(input[at]) - levels.offset) * levels.scale * weight;
    }
    canvas[static_cast<long long>(row) * canvas_size.x + x] = result;
  }
}

float ramp_of(const VolumeCanvasSpec& spec, std::int64_t side) {
  return static_cast<float>(spec.taper * static_cast<double>(side));
}

template <class Pixel>
class VolumeCanvasStage final : public backend::VolumeCanvas {
 public:
  VolumeCanvasStage(const Context& context, const VolumeCanvasSpec& spec)
      : place_{context, "volume_canvas"},
        size_(sides_of(spec.input, place_)),
        canvas_size_(sides_of(spec.canvas, place_)),
        ramps_{ramp_of(spec, spec.input.width), ramp_of(spec, spec.input.height),
               ramp_of(spec, spec.input.depth)} {
    load(&volume_canvas_kernel<Pixel>, place_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& input, const VolumeLevels& levels,
               backend::Memory& canvas) override {
    const dim3 blocks =
        tile_grid(canvas_size_.x, canvas_size_.y * canvas_size_.z, warp_lanes, row_block_height);
    launch(place_, queue, blocks, dim3(warp_lanes, row_block_height), &volume_canvas_kernel<Pixel>,
           data<Pixel>(input), size_, levels, ramps_, data<float>(canvas), canvas_size_);
  }

 private:
  Place place_;
  Triple size_, canvas_size_;
  Ramps ramps_;
};

}  // namespace

template <>
std::unique_ptr<backend::VolumeCanvas> make(const Context& context, const VolumeCanvasSpec& spec) {
  switch (spec.input_type) {
    case PixelType::u8:
      return std::make_unique<VolumeCanvasStage<std::uint8_t>>(context, spec);
    case PixelType::u16:
      return std::make_unique<VolumeCanvasStage<std::uint16_t>>(context, spec);
    default:
      return std::make_unique<VolumeCanvasStage<float>>(context, spec);
  }
}

}  // namespace warpalign::cuda
