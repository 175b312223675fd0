// Stage: radial whitening, which divides a log-polar spectrum by its radial profile.
#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* radial_whitening_stage = "radial_whitening";

RadialWhiteningSpec checked(const RadialWhiteningSpec& spec) {
  detail::check_shape(radial_whitening_stage, "the image", spec.image);
  return spec;
}

}  // namespace

RadialWhiteningPlan::RadialWhiteningPlan(const Device& device, const RadialWhiteningSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void RadialWhiteningPlan::execute(Stream& stream, Image& image) const {
  detail::check_stream(radial_whitening_stage, device_, stream);
  detail::check_image(radial_whitening_stage, "the image", device_, image, PixelType::f32,
                      spec_.image);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(image));
}

}  // namespace warpalign
