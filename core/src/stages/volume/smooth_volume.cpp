// Stage: smooths a volume in which NaN marks ignored voxels.
#include <warpalign/backend/stages/volume/smooth_volume.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* smooth_volume_stage = "smooth_volume";

SmoothVolumeSpec checked(const SmoothVolumeSpec& spec) {
  detail::check_shape(smooth_volume_stage, "the volume", spec.shape, detail::max_side);
  return spec;
}

}  // namespace

SmoothVolumePlan::SmoothVolumePlan(const Device& device, const SmoothVolumeSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void SmoothVolumePlan::execute(Stream& stream, const Image& volume, Image& smoothed) const {
  detail::check_stream(smooth_volume_stage, device_, stream);
  detail::check_image(smooth_volume_stage, "the volume", device_, volume, PixelType::f32,
                      spec_.shape);
  detail::check_image(smooth_volume_stage, "the output", device_, smoothed, PixelType::f32,
                      spec_.shape);
  detail::check_distinct(smooth_volume_stage, volume, smoothed);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(volume),
                   detail::Access::memory(smoothed));
}

}  // namespace warpalign
