// Stage: halves the resolution of a volume in which NaN marks ignored voxels.
#include <warpalign/backend/stages/volume/halve_volume.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* halve_volume_stage = "halve_volume";

HalveVolumeSpec checked(const HalveVolumeSpec& spec) {
  detail::check_shape(halve_volume_stage, "the volume", spec.shape, detail::max_side);
  detail::check_shape(halve_volume_stage, "the halved volume", spec.output(), detail::max_side);
  return spec;
}

}  // namespace

HalveVolumePlan::HalveVolumePlan(const Device& device, const HalveVolumeSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void HalveVolumePlan::execute(Stream& stream, const Image& volume, Image& halved) const {
  detail::check_stream(halve_volume_stage, device_, stream);
  detail::check_image(halve_volume_stage, "the volume", device_, volume, PixelType::f32,
                      spec_.shape);
  detail::check_image(halve_volume_stage, "the output", device_, halved, PixelType::f32,
                      spec_.output());
  detail::check_distinct(halve_volume_stage, volume, halved);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(volume),
                   detail::Access::memory(halved));
}

}  // namespace warpalign
