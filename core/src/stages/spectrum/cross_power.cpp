// Stage: the normalised cross-power spectrum.
#include <warpalign/backend/stages/spectrum/cross_power.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <warpalign/stages/fft.hpp>

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* cross_power_stage = "cross_power";

CrossPowerSpec checked(const CrossPowerSpec& spec) {
  detail::check_shape(cross_power_stage, "the image", spec.image, detail::max_side);
  if (spec.with_rotated_180 && spec.image.depth > 1) {
    detail::refuse(cross_power_stage, "with_rotated_180 is for images, not for volumes");
  }
  if (!std::isfinite(spec.sigma) || spec.sigma < 0) {
    detail::refuse(cross_power_stage, "sigma must be 0 or more");
  }
  const std::int64_t images = backend::images_of(spec);
  const auto fits = [&](std::int64_t count) { return count == 1 || count == images; };
  if (!fits(spec.first_images) || !fits(spec.second_images)) {
    detail::refuse(cross_power_stage,
                   "both inputs must have the same number of spectra, or one of them one");
  }
  if (images > 1 && (spec.with_rotated_180 || spec.image.depth > 1)) {
    detail::refuse(cross_power_stage, "stacks of spectra require images and no with_rotated_180");
  }
  return spec;
}

Shape spectra_of(const CrossPowerSpec& spec, std::int64_t images) {
  const Shape half = RealFftPlan::half_spectrum(spec.image);
  return {half.width, half.height, images > 1 ? images : half.depth};
}

// The sum of exp(-factor (2k/n)^2 / (2 sigma^2)) over all n signed frequencies k of one axis. The
// weight is a product over the axes, and so is its sum.
double axis_sum(std::int64_t n, double sigma, double factor) {
  if (sigma == 0) return static_cast<double>(n);
  double sum = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const double signed_k = static_cast<double>(2 * k > n ? k - n : k);
    const double rho = 2 * signed_k / static_cast<double>(n);
    sum += std::exp(-factor * rho * rho / (2 * sigma * sigma));
  }
  return sum;
}

double sum_of_weights(const CrossPowerSpec& spec, double power) {
  const CrossPowerSpec valid = checked(spec);
  return axis_sum(valid.image.width, static_cast<double>(valid.sigma), power) *
         axis_sum(valid.image.height, static_cast<double>(valid.sigma), power) *
         axis_sum(valid.image.depth, static_cast<double>(valid.sigma), power);
}

}  // namespace

CrossPowerPlan::CrossPowerPlan(const Device& device, const CrossPowerSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void CrossPowerPlan::execute(Stream& stream, const Image& a, const Image& b, Image& output) const {
  Shape out = spectra_of(spec_, backend::images_of(spec_));
  if (spec_.with_rotated_180) out.depth = 2;
  detail::check_stream(cross_power_stage, device_, stream);
  detail::check_image(cross_power_stage, "the first spectrum", device_, a, PixelType::c32,
                      spectra_of(spec_, spec_.first_images));
  detail::check_image(cross_power_stage, "the second spectrum", device_, b, PixelType::c32,
                      spectra_of(spec_, spec_.second_images));
  detail::check_image(cross_power_stage, "the output", device_, output, PixelType::c32, out);
  detail::check_distinct(cross_power_stage, a, output);
  detail::check_distinct(cross_power_stage, b, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(a),
                   detail::Access::memory(b), detail::Access::memory(output));
}

double CrossPowerPlan::total_weight(const CrossPowerSpec& spec) { return sum_of_weights(spec, 1); }

double CrossPowerPlan::total_squared_weight(const CrossPowerSpec& spec) {
  return sum_of_weights(spec, 2);
}

}  // namespace warpalign
