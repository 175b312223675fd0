// Stage: the double-angle representation of an image's gradient.
#include <warpalign/backend/stages/filter/double_angle.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <array>
#include <cmath>
#include <string>

namespace warpalign {

namespace {

constexpr const char* double_angle_stage = "double_angle";
constexpr std::int64_t max_slices = 8192;

DoubleAngleSpec checked(const DoubleAngleSpec& spec) {
  detail::check_shape(double_angle_stage, "the image", spec.image);
  if (spec.slices < 1 || spec.slices > max_slices) {
    detail::refuse(double_angle_stage,
                   "the number of slices must be 1 to " + std::to_string(max_slices));
  }
  if (!std::isfinite(spec.epsilon) || spec.epsilon <= 0) {
    detail::refuse(double_angle_stage, "epsilon must be above 0");
  }
  return spec;
}

void check_terms(const DoubleAngleTerms& terms) {
  for (const double number : {terms.mean.x, terms.mean.y, terms.gain}) {
    if (!std::isfinite(number))
      detail::refuse(double_angle_stage, "the terms contain NaN or infinity");
  }
}

backend::DoubleAngleFactors factors_of(const DoubleAngleTerms& terms) {
  return {static_cast<float>(terms.mean.x), static_cast<float>(terms.mean.y),
          static_cast<float>(terms.gain)};
}

struct Named {
  const char* what;
  const Image& image;
};

void check(const Device& device, const Shape& stack, const std::array<Named, 2>& read,
           const std::array<Named, 2>& written) {
  for (const auto& [what, image] : read) {
    detail::check_image(double_angle_stage, what, device, image, PixelType::f32, stack);
  }
  for (const auto& [what, image] : written) {
    detail::check_image(double_angle_stage, what, device, image, PixelType::f32, stack);
    for (const Named& input : read) detail::check_distinct(double_angle_stage, input.image, image);
  }
  detail::check_distinct(double_angle_stage, written[0].image, written[1].image);
}

}  // namespace

DoubleAnglePlan::DoubleAnglePlan(const Device& device, const DoubleAngleSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      factors_(std::make_shared<std::vector<backend::DoubleAngleFactors>>()) {
  factors_->reserve(static_cast<std::size_t>(spec.slices));
}

void DoubleAnglePlan::execute(Stream& stream, const Image& input, const Image& weight,
                              const DoubleAngleTerms& terms, Image& cosines, Image& sines,
                              std::int64_t slice) const {
  execute(stream, input, weight, std::span(&terms, 1), cosines, sines, slice);
}

void DoubleAnglePlan::execute(Stream& stream, const Image& input, const Image& weight,
                              std::span<const DoubleAngleTerms> terms, Image& cosines, Image& sines,
                              std::int64_t first_slice) const {
  detail::check_stream(double_angle_stage, device_, stream);
  check(device_, stack(), {{{"the input", input}, {"the weight", weight}}},
        {{{"the cosines", cosines}, {"the sines", sines}}});
  const auto slices = static_cast<std::int64_t>(terms.size());
  if (first_slice < 0 || first_slice > spec_.slices || slices > spec_.slices - first_slice) {
    detail::refuse(double_angle_stage,
                   "the slices must be 0 to " + std::to_string(spec_.slices - 1));
  }
  factors_->clear();
  for (const DoubleAngleTerms& of_slice : terms) {
    check_terms(of_slice);
    factors_->push_back(factors_of(of_slice));
  }
  if (terms.empty()) return;
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(input), detail::Access::memory(weight),
                    detail::Access::memory(cosines), detail::Access::memory(sines)},
                   *factors_, first_slice);
}

void DoubleAnglePlan::turn(Stream& stream, const Image& cosines, const Image& sines,
                           double rotation, Image& rotated_cosines, Image& rotated_sines) const {
  detail::check_stream(double_angle_stage, device_, stream);
  check(device_, stack(), {{{"the cosines", cosines}, {"the sines", sines}}},
        {{{"the rotated cosines", rotated_cosines}, {"the rotated sines", rotated_sines}}});
  if (!std::isfinite(rotation))
    detail::refuse(double_angle_stage, "the rotation must be a finite number");
  kernel_->enqueue_rotated(
      detail::Access::queue(stream),
      {detail::Access::memory(cosines), detail::Access::memory(sines),
       detail::Access::memory(rotated_cosines), detail::Access::memory(rotated_sines)},
      static_cast<float>(std::cos(2 * rotation)), static_cast<float>(std::sin(2 * rotation)));
}

}  // namespace warpalign
