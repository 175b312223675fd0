// Stage: marks the masked voxels of a volume with NaN.
#include <warpalign/backend/stages/volume/mark_volume.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* mark_volume_stage = "mark_volume";

MarkVolumeSpec checked(const MarkVolumeSpec& spec) {
  detail::check_shape(mark_volume_stage, "the volume", spec.shape, detail::max_side);
  detail::check_grey(mark_volume_stage, "the volume", spec.type);
  return spec;
}

}  // namespace

MarkVolumePlan::MarkVolumePlan(const Device& device, const MarkVolumeSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void MarkVolumePlan::execute(Stream& stream, const Image& voxels, const Image& mask,
                             Image& marked) const {
  detail::check_stream(mark_volume_stage, device_, stream);
  detail::check_image(mark_volume_stage, "the volume", device_, voxels, spec_.type, spec_.shape);
  detail::check_image(mark_volume_stage, "the mask", device_, mask, PixelType::u8, spec_.shape);
  detail::check_image(mark_volume_stage, "the marked volume", device_, marked, PixelType::f32,
                      spec_.shape);
  detail::check_distinct(mark_volume_stage, voxels, marked);
  detail::check_distinct(mark_volume_stage, mask, marked);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(voxels),
                   detail::Access::memory(mask), detail::Access::memory(marked));
}

}  // namespace warpalign
