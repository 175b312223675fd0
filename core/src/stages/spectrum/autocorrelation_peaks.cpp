// Stage: the shifts at which an image resembles itself.
#include <warpalign/backend/stages/spectrum/autocorrelation_peaks.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* autocorrelation_peaks_stage = "autocorrelation_peaks";

AutocorrelationPeaksSpec checked(const AutocorrelationPeaksSpec& spec) {
  detail::check_shape(autocorrelation_peaks_stage, "the image", spec.image);
  detail::check_shape(autocorrelation_peaks_stage, "the surface", spec.surface);
  detail::check_batch(autocorrelation_peaks_stage, "the stack", spec.surface, 1, spec.images);
  const auto wraps = [](std::int64_t side, std::int64_t frame) {
    return frame < side + side / 2 + 2;
  };
  if (spec.image.depth != 1 || spec.surface.depth != 1 ||
      wraps(spec.image.width, spec.surface.width) ||
      wraps(spec.image.height, spec.surface.height)) {
    detail::refuse(autocorrelation_peaks_stage,
                   "a surface of " + to_string(spec.surface) + " is too small for " +
                       to_string(spec.image) +
                       "; each side must be at least one and a half of the image's plus two");
  }
  return spec;
}

}  // namespace

AutocorrelationPeaksPlan::AutocorrelationPeaksPlan(const Device& device,
                                                   const AutocorrelationPeaksSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void AutocorrelationPeaksPlan::execute(Stream& stream, const Image& surfaces, Buffer& peaks) const {
  detail::check_stream(autocorrelation_peaks_stage, device_, stream);
  detail::check_image(autocorrelation_peaks_stage, "the surfaces", device_, surfaces,
                      PixelType::f32, stacked(spec_.surface, 2, spec_.images));
  detail::check_buffer(autocorrelation_peaks_stage, "the peaks", device_, peaks,
                       static_cast<std::size_t>(rows() * spec_.images) * sizeof(float));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(surfaces),
                   detail::Access::memory(peaks));
}

}  // namespace warpalign
