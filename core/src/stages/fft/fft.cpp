// Stage: the Fourier transform of real images and volumes.
#include <warpalign/stages/fft.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* fft_stage = "fft";
constexpr std::int64_t max_batch = 65535;

RealFftSpec checked(const RealFftSpec& spec) {
  if (spec.dimensions != 2 && spec.dimensions != 3) {
    detail::refuse(fft_stage,
                   "the transform has 2 or 3 dimensions, not " + std::to_string(spec.dimensions));
  }
  detail::check_shape(fft_stage, "the image", spec.shape,
                      spec.dimensions == 3 ? detail::max_side : max_batch);
  return spec;
}

// A volume with an axis of one voxel is an image with the same order in memory. So core passes only
// volumes to the backends that are at least two voxels high and deep.
RealFftSpec without_idle_axes(const RealFftSpec& spec) {
  if (spec.dimensions == 2) return spec;
  const Shape& s = spec.shape;
  if (s.depth == 1) return {s, 2, spec.directions};
  if (s.height == 1) return {{s.width, s.depth, 1}, 2, spec.directions};
  return spec;
}

}  // namespace

RealFftPlan::RealFftPlan(const Device& device, const RealFftSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(without_idle_axes(spec))) {}

void RealFftPlan::forward(Stream& stream, const Image& real, Image& spectrum) const {
  if (!spec_.has_forward()) detail::refuse(fft_stage, "this plan computes only inverse transforms");
  detail::check_stream(fft_stage, device_, stream);
  detail::check_image(fft_stage, "the image", device_, real, PixelType::f32, spec_.shape);
  detail::check_image(fft_stage, "the spectrum", device_, spectrum, PixelType::c32,
                      half_spectrum(spec_.shape));
  detail::check_distinct(fft_stage, real, spectrum);
  kernel_->enqueue_forward(detail::Access::queue(stream), detail::Access::memory(real),
                           detail::Access::memory(spectrum));
}

void RealFftPlan::inverse(Stream& stream, Image& spectrum, Image& real) const {
  if (!spec_.has_inverse()) detail::refuse(fft_stage, "this plan computes only forward transforms");
  detail::check_stream(fft_stage, device_, stream);
  detail::check_image(fft_stage, "the spectrum", device_, spectrum, PixelType::c32,
                      half_spectrum(spec_.shape));
  detail::check_image(fft_stage, "the image", device_, real, PixelType::f32, spec_.shape);
  detail::check_distinct(fft_stage, spectrum, real);
  kernel_->enqueue_inverse(detail::Access::queue(stream), detail::Access::memory(spectrum),
                           detail::Access::memory(real));
}

Shape RealFftPlan::half_spectrum(const Shape& real) noexcept {
  return {real.width / 2 + 1, real.height, real.depth};
}

}  // namespace warpalign
