// Stage: window an image and place it on a canvas.
#include <warpalign/stages/apodize.hpp>

#include "access.hpp"
#include "check.hpp"

#include <warpalign/stages/statistics.hpp>

namespace warpalign {

namespace {

constexpr const char* stage = "apodize";

ApodizeSpec checked(const ApodizeSpec& spec) {
  detail::check_shape(stage, "the image", spec.input);
  detail::check_shape(stage, "the canvas", spec.canvas);
  if (spec.canvas.width < spec.input.width || spec.canvas.height < spec.input.height) {
    detail::refuse(stage, "an image of " + to_string(spec.input) + " does not fit a canvas of " +
                              to_string(spec.canvas));
  }
  return spec;
}

}  // namespace

ApodizePlan::ApodizePlan(const Device& device, const ApodizeSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make_apodize(spec)) {}

void ApodizePlan::execute(Stream& stream, const Image& input, const Buffer& statistics,
                          Image& canvas) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the input", device_, input, PixelType::f32, spec_.input);
  detail::check_buffer(stage, "the statistics", device_, statistics, sizeof(StatisticsRecord));
  detail::check_image(stage, "the canvas", device_, canvas, PixelType::f32, spec_.canvas);
  detail::check_distinct(stage, input, canvas);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(statistics), detail::Access::memory(canvas));
}

Shape ApodizePlan::offset(const ApodizeSpec& spec) noexcept {
  return {(spec.canvas.width - spec.input.width) / 2, (spec.canvas.height - spec.input.height) / 2,
          0};
}

}  // namespace warpalign
