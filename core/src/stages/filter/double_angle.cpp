// Stage: the double-angle representation of an image's gradient.
#include <warpalign/backend/stages/filter/double_angle.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <cmath>
#include <string>

namespace warpalign {

namespace {

constexpr const char* stage = "double_angle";
constexpr std::int64_t max_slices = 8192;

DoubleAngleSpec checked(const DoubleAngleSpec& spec) {
  detail::check_shape(stage, "the image", spec.image);
  if (spec.slices < 1 || spec.slices > max_slices) {
    detail::refuse(stage, "there must be 1 to " + std::to_string(max_slices) + " slices");
  }
  if (!std::isfinite(spec.epsilon) || spec.epsilon <= 0) {
    detail::refuse(stage, "epsilon must be above 0");
  }
  return spec;
}

void check_terms(const DoubleAngleTerms& terms) {
  for (const double number : {terms.rotation, terms.mean.x, terms.mean.y, terms.gain}) {
    if (!std::isfinite(number)) detail::refuse(stage, "the terms hold NaN or infinity");
  }
}

}  // namespace

DoubleAnglePlan::DoubleAnglePlan(const Device& device, const DoubleAngleSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void DoubleAnglePlan::execute(Stream& stream, const Image& input, const Image& weight,
                              const DoubleAngleTerms& terms, Image& cosines, Image& sines,
                              std::int64_t slice) const {
  detail::check_stream(stage, device_, stream);
  const Shape shape{spec_.image.width, spec_.image.height, spec_.slices};
  const auto check = [&](const char* what, const Image& image) {
    detail::check_image(stage, what, device_, image, PixelType::f32, shape);
  };
  check("the input", input);
  check("the weight", weight);
  check("the cosines", cosines);
  check("the sines", sines);
  for (const Image* read : {&input, &weight}) {
    detail::check_distinct(stage, *read, cosines);
    detail::check_distinct(stage, *read, sines);
  }
  detail::check_distinct(stage, cosines, sines);
  check_terms(terms);
  if (slice < 0 || slice >= spec_.slices) detail::refuse(stage, "there is no such slice");
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(input), detail::Access::memory(weight),
                    detail::Access::memory(cosines), detail::Access::memory(sines)},
                   terms, slice);
}

}  // namespace warpalign
