// Stage: windowing of an image and its placement in a padded frame.
#include <warpalign/backend/stages/filter/apodize.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>

#include <cmath>
#include <numbers>

namespace warpalign {

namespace {

constexpr const char* stage = "apodize";

ApodizeSpec checked(const ApodizeSpec& spec) {
  detail::check_grey(stage, "the image", spec.type);
  detail::check_shape(stage, "the image", spec.input);
  detail::check_shape(stage, "the padded frame", spec.padded);
  if (spec.padded.width < spec.input.width || spec.padded.height < spec.input.height) {
    detail::refuse(stage, "an image of " + to_string(spec.input) +
                              " does not fit a padded frame of " + to_string(spec.padded));
  }
  return spec;
}

std::vector<float> weights_of(Window window, std::int64_t n) {
  std::vector<float> weights(static_cast<std::size_t>(n), 1.0F);
  if (window == Window::none) return weights;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double sine =
        std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
    weights[i] = static_cast<float>(sine * sine);
  }
  return weights;
}

backend::WindowWeights window_of(const ApodizeSpec& spec) {
  return {weights_of(spec.window, spec.input.width), weights_of(spec.window, spec.input.height)};
}

}  // namespace

ApodizePlan::ApodizePlan(const Device& device, const ApodizeSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(backend::Apodize::Setup{spec, window_of(spec)})) {
}

void ApodizePlan::execute(Stream& stream, const Image& input, const Buffer& statistics,
                          Image& padded) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the input", device_, input, spec_.type, spec_.input);
  detail::check_buffer(stage, "the statistics", device_, statistics, sizeof(StatisticsRecord));
  detail::check_image(stage, "the padded frame", device_, padded, PixelType::f32, spec_.padded);
  detail::check_distinct(stage, input, padded);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(statistics), detail::Access::memory(padded));
}

Shape ApodizePlan::offset(const ApodizeSpec& spec) noexcept {
  return {(spec.padded.width - spec.input.width) / 2, (spec.padded.height - spec.input.height) / 2,
          0};
}

}  // namespace warpalign
