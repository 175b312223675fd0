// Stage: windowing of an image and its placement in a padded frame.
#include <warpalign/backend/stages/filter/apodize.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/filter/window_weights.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>

namespace warpalign {

namespace {

constexpr const char* apodize_stage = "apodize";

ApodizeSpec checked(const ApodizeSpec& spec) {
  detail::check_grey(apodize_stage, "the image", spec.type);
  detail::check_shape(apodize_stage, "the image", spec.input);
  detail::check_shape(apodize_stage, "the padded frame", spec.padded);
  if (spec.padded.width < spec.input.width || spec.padded.height < spec.input.height) {
    detail::refuse(apodize_stage, "an image of " + to_string(spec.input) +
                                      " does not fit a padded frame of " + to_string(spec.padded));
  }
  return spec;
}

backend::WindowWeights window_of(const ApodizeSpec& spec) {
  return {detail::window_weights(spec.window, spec.input.width),
          detail::window_weights(spec.window, spec.input.height)};
}

}  // namespace

ApodizePlan::ApodizePlan(const Device& device, const ApodizeSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(backend::Apodize::Setup{spec, window_of(spec)})) {
}

void ApodizePlan::execute(Stream& stream, const Image& input, const Buffer& statistics,
                          Image& padded) const {
  detail::check_stream(apodize_stage, device_, stream);
  detail::check_image(apodize_stage, "the input", device_, input, spec_.type, spec_.input);
  detail::check_buffer(apodize_stage, "the statistics", device_, statistics,
                       sizeof(StatisticsRecord));
  detail::check_image(apodize_stage, "the padded frame", device_, padded, PixelType::f32,
                      spec_.padded);
  detail::check_distinct(apodize_stage, input, padded);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(statistics), detail::Access::memory(padded));
}

Shape ApodizePlan::offset(const ApodizeSpec& spec) noexcept {
  return {(spec.padded.width - spec.input.width) / 2, (spec.padded.height - spec.input.height) / 2,
          0};
}

}  // namespace warpalign
