// Stage: scales and tapers a volume, and pads it with zeros.
#include <warpalign/backend/stages/volume/pad_volume.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* pad_volume_stage = "pad_volume";

PadVolumeSpec checked(const PadVolumeSpec& spec) {
  detail::check_shape(pad_volume_stage, "the volume", spec.input, detail::max_side);
  detail::check_shape(pad_volume_stage, "the padded frame", spec.padded, detail::max_side);
  if (spec.padded.width < spec.input.width || spec.padded.height < spec.input.height ||
      spec.padded.depth < spec.input.depth) {
    detail::refuse(pad_volume_stage, "a volume of " + to_string(spec.input) +
                                         " does not fit a padded frame of " +
                                         to_string(spec.padded));
  }
  detail::check_grey(pad_volume_stage, "the volume", spec.input_type);
  if (spec.marked && spec.input_type != PixelType::f32) {
    detail::refuse(pad_volume_stage, "a marked volume must be f32");
  }
  if (!(spec.taper >= 0 && spec.taper <= 0.5))
    detail::refuse(pad_volume_stage, "the taper must be 0 to 0.5");
  return spec;
}

}  // namespace

PadVolumePlan::PadVolumePlan(const Device& device, const PadVolumeSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void PadVolumePlan::execute(Stream& stream, const Image& input, const VolumeLevels& levels,
                            Image& padded) const {
  detail::check_stream(pad_volume_stage, device_, stream);
  detail::check_image(pad_volume_stage, "the volume", device_, input, spec_.input_type,
                      spec_.input);
  detail::check_image(pad_volume_stage, "the padded frame", device_, padded, PixelType::f32,
                      spec_.padded);
  detail::check_distinct(pad_volume_stage, input, padded);
  if (!std::isfinite(levels.offset) || !std::isfinite(levels.scale)) {
    detail::refuse(pad_volume_stage, "the offset or the scale is NaN or infinite");
  }
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input), levels,
                   detail::Access::memory(padded));
}

}  // namespace warpalign
