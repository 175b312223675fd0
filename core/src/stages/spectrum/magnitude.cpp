// Stage: the magnitude of a half spectrum, centred.
#include <warpalign/stages/magnitude.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <warpalign/stages/fft.hpp>

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* magnitude_stage = "magnitude";

MagnitudeSpec checked(const MagnitudeSpec& spec) {
  detail::check_shape(magnitude_stage, "the image", spec.image);
  if (!std::isfinite(spec.exponent) || spec.exponent <= 0) {
    detail::refuse(magnitude_stage, "the exponent must be a number above 0");
  }
  return spec;
}

}  // namespace

MagnitudePlan::MagnitudePlan(const Device& device, const MagnitudeSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void MagnitudePlan::execute(Stream& stream, const Image& spectrum, Image& magnitude) const {
  const Shape half = RealFftPlan::half_spectrum(spec_.image);
  detail::check_stream(magnitude_stage, device_, stream);
  detail::check_image(magnitude_stage, "the spectrum", device_, spectrum, PixelType::c32, half);
  detail::check_image(magnitude_stage, "the magnitude", device_, magnitude, PixelType::f32, half);
  detail::check_distinct(magnitude_stage, spectrum, magnitude);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(spectrum),
                   detail::Access::memory(magnitude));
}

}  // namespace warpalign
