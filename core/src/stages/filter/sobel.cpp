// Stage: gradient magnitude by the 3 x 3 Sobel operator.
#include <warpalign/stages/sobel.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* sobel_stage = "sobel";

SobelSpec checked(const SobelSpec& spec) {
  detail::check_shape(sobel_stage, "the image", spec.shape);
  detail::check_grey(sobel_stage, "the image", spec.input);
  return spec;
}

}  // namespace

SobelPlan::SobelPlan(const Device& device, const SobelSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void SobelPlan::execute(Stream& stream, const Image& input, Image& output) const {
  detail::check_stream(sobel_stage, device_, stream);
  detail::check_image(sobel_stage, "the input", device_, input, spec_.input, spec_.shape);
  detail::check_image(sobel_stage, "the output", device_, output, PixelType::f32, spec_.shape);
  detail::check_distinct(sobel_stage, input, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(output));
}

}  // namespace warpalign
