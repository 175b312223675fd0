// Stage: bilinear interpolation of complex data at arbitrary points.
#include <warpalign/backend/stages/spline/complex_bilinear.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* stage = "complex_bilinear";

ComplexBilinearSpec checked(const ComplexBilinearSpec& spec) {
  detail::check_array(stage, "the image", spec.image);
  detail::check_array(stage, "the output", spec.output);
  if (spec.image.depth != 1 || spec.output.depth != 1) {
    detail::refuse(stage, "image and output must have two dimensions");
  }
  return spec;
}

}  // namespace

ComplexBilinearPlan::ComplexBilinearPlan(const Device& device, const ComplexBilinearSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void ComplexBilinearPlan::execute(Stream& stream, const Image& image, const Image& x,
                                  const Image& y, Image& output) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the image", device_, image, PixelType::c32, spec_.image);
  detail::check_image(stage, "the x coordinates", device_, x, PixelType::f32, spec_.output);
  detail::check_image(stage, "the y coordinates", device_, y, PixelType::f32, spec_.output);
  detail::check_image(stage, "the output", device_, output, PixelType::c32, spec_.output);
  detail::check_distinct(stage, image, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(image),
                   detail::Access::memory(x), detail::Access::memory(y),
                   detail::Access::memory(output));
}

}  // namespace warpalign
