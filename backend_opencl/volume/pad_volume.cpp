// Stage: offset, scale and taper a volume's intensities, and copy them into a padded frame.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "volume/volume_shape.hpp"

#include <warpalign/backend/stages/volume/pad_volume.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "pad_volume";

cl_float ramp_of(const PadVolumeSpec& spec, std::int64_t side) {
  return static_cast<cl_float>(spec.taper * static_cast<double>(side));
}

std::string options(const PadVolumeSpec& spec) {
  return pixel_option(spec.input_type) + (spec.marked ? " -D MARKED" : "");
}

class PadVolume final : public backend::PadVolume {
 public:
  PadVolume(Context& context, const PadVolumeSpec& spec)
      : size_(to_int4(spec.input, context.call_site(stage))),
        padded_size_(to_int4(spec.padded, context.call_site(stage))),
        ramp_{{ramp_of(spec, spec.input.width), ramp_of(spec, spec.input.height),
               ramp_of(spec, spec.input.depth), 0}},
        grid_(patches(context, spec.padded.width, spec.padded.height * spec.padded.depth)),
        kernel_(context, stage, kernels::pad_volume, "pad_volume", options(spec)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& input, const VolumeLevels& levels,
               backend::Memory& padded) override {
    kernel_.launch(queue_of(queue), grid_, input, size_, levels.offset, levels.scale, ramp_, padded,
                   padded_size_);
  }

 private:
  cl_int4 size_, padded_size_;
  cl_float4 ramp_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::PadVolume> make(Context& context, const PadVolumeSpec& spec) {
  return std::make_unique<PadVolume>(context, spec);
}

}  // namespace warpalign::opencl
