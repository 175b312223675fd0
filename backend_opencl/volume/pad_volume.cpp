// Stage: a volume's voxels levelled, tapered, and placed on a canvas.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "embedded_kernels.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "volume/volume_sides.hpp"

#include <warpalign/backend/stages/volume/pad_volume.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "volume_canvas";

cl_float ramp_of(const VolumeCanvasSpec& spec, std::int64_t side) {
  return static_cast<cl_float>(spec.taper * static_cast<double>(side));
}

class VolumeCanvas final : public backend::VolumeCanvas {
 public:
  VolumeCanvas(OpenedDevice& device, const VolumeCanvasSpec& spec)
      : size_(sides_of(spec.input, device.place(stage))),
        canvas_size_(sides_of(spec.canvas, device.place(stage))),
        ramp_{{ramp_of(spec, spec.input.width), ramp_of(spec, spec.input.height),
               ramp_of(spec, spec.input.depth), 0}},
        grid_(patches(device, spec.canvas.width, spec.canvas.height * spec.canvas.depth)),
        kernel_(device, stage, kernels::pad_volume, "volume_canvas",
                pixel_option(spec.input_type)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input, const VolumeLevels& levels,
               backend::Memory& canvas) override {
    kernel_.launch(queue_of(queue), grid_, input, size_, levels.offset, levels.scale, ramp_, canvas,
                   canvas_size_);
  }

 private:
  cl_int4 size_, canvas_size_;
  cl_float4 ramp_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::VolumeCanvas> make(OpenedDevice& device, const VolumeCanvasSpec& spec) {
  return std::make_unique<VolumeCanvas>(device, spec);
}

}  // namespace warpalign::opencl
