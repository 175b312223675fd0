// Stage: bilinear interpolation of complex data at arbitrary points.
#include <warpalign/backend/stages/spline/complex_bilinear.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* complex_bilinear_stage = "complex_bilinear";

ComplexBilinearSpec checked(const ComplexBilinearSpec& spec) {
  detail::check_array(complex_bilinear_stage, "the image", spec.image);
  detail::check_array(complex_bilinear_stage, "the output", spec.output);
  if (spec.image.depth != 1 || spec.output.depth != 1) {
    detail::refuse(complex_bilinear_stage, "image and output must have two dimensions");
  }
  return spec;
}

}  // namespace

ComplexBilinearPlan::ComplexBilinearPlan(const Device& device, const ComplexBilinearSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void ComplexBilinearPlan::execute(Stream& stream, const Image& image, const Image& x,
                                  const Image& y, Image& output) const {
  detail::check_stream(complex_bilinear_stage, device_, stream);
  detail::check_image(complex_bilinear_stage, "the image", device_, image, PixelType::c32,
                      spec_.image);
  detail::check_image(complex_bilinear_stage, "the x coordinates", device_, x, PixelType::f32,
                      spec_.output);
  detail::check_image(complex_bilinear_stage, "the y coordinates", device_, y, PixelType::f32,
                      spec_.output);
  detail::check_image(complex_bilinear_stage, "the output", device_, output, PixelType::c32,
                      spec_.output);
  detail::check_distinct(complex_bilinear_stage, image, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(image),
                   detail::Access::memory(x), detail::Access::memory(y),
                   detail::Access::memory(output));
}

}  // namespace warpalign
