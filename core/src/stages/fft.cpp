// Stage: the two-dimensional Fourier transform of real images.
#include <warpalign/stages/fft.hpp>

#include "access.hpp"
#include "check.hpp"

namespace warpalign {

namespace {

constexpr const char* stage = "fft";
constexpr std::int64_t largest_batch = 65535;

RealFftSpec checked(const RealFftSpec& spec) {
  detail::check_shape(stage, "the image", spec.shape, largest_batch);
  return spec;
}

}  // namespace

RealFftPlan::RealFftPlan(const Device& device, const RealFftSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make_real_fft(spec)) {}

void RealFftPlan::forward(Stream& stream, const Image& real, Image& spectrum) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the image", device_, real, PixelType::f32, spec_.shape);
  detail::check_image(stage, "the spectrum", device_, spectrum, PixelType::c32,
                      half_spectrum(spec_.shape));
  kernel_->enqueue_forward(detail::Access::queue(stream), detail::Access::memory(real),
                           detail::Access::memory(spectrum));
}

void RealFftPlan::inverse(Stream& stream, Image& spectrum, Image& real) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the spectrum", device_, spectrum, PixelType::c32,
                      half_spectrum(spec_.shape));
  detail::check_image(stage, "the image", device_, real, PixelType::f32, spec_.shape);
  kernel_->enqueue_inverse(detail::Access::queue(stream), detail::Access::memory(spectrum),
                           detail::Access::memory(real));
}

Shape RealFftPlan::half_spectrum(const Shape& real) noexcept {
  return {real.width / 2 + 1, real.height, real.depth};
}

}  // namespace warpalign
