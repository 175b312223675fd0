// Stage: the cross-power spectra of many windows with the windows of a reference.
#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>

#include <warpalign/stages/fft.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* window_cross_power_stage = "window_cross_power";

WindowCrossPowerSpec checked(const WindowCrossPowerSpec& spec) {
  detail::check_shape(window_cross_power_stage, "the window", spec.window);
  if (spec.windows < 1 || spec.frames < 1) {
    detail::refuse(window_cross_power_stage, "there must be at least one window and one frame");
  }
  if (!std::isfinite(spec.sigma) || spec.sigma < 0) {
    detail::refuse(window_cross_power_stage, "sigma must be 0 or more");
  }
  return spec;
}

Shape window_spectra(const Shape& window, std::int64_t count) {
  return RealFftPlan::half_spectrum({window.width, window.height, count});
}

}  // namespace

WindowCrossPowerPlan::WindowCrossPowerPlan(const Device& device, const WindowCrossPowerSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void WindowCrossPowerPlan::execute(Stream& stream, const Image& reference, const Image& frames,
                                   Image& output) const {
  const Shape all = window_spectra(spec_.window, spec_.windows * spec_.frames);
  detail::check_stream(window_cross_power_stage, device_, stream);
  detail::check_image(window_cross_power_stage, "the reference's spectra", device_, reference,
                      PixelType::c32, window_spectra(spec_.window, spec_.windows));
  detail::check_image(window_cross_power_stage, "the frames' spectra", device_, frames,
                      PixelType::c32, all);
  detail::check_image(window_cross_power_stage, "the output", device_, output, PixelType::c32, all);
  if (spec_.frames > 1) detail::check_distinct(window_cross_power_stage, reference, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(reference),
                   detail::Access::memory(frames), detail::Access::memory(output));
}

}  // namespace warpalign
