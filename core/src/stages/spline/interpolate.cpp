// Stage: evaluation of a B-spline at arbitrary points.
#include <warpalign/stages/interpolate.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/converted.hpp"
#include "stages/spline/details.hpp"

#include <warpalign/stages/prefilter.hpp>

#include <cmath>
#include <initializer_list>

namespace warpalign {

namespace {

constexpr const char* stage = "interpolate";

bool is_complex(PixelType type) { return type == PixelType::c32; }

void check_types(const InterpolateSpec& spec) {
  if (spec.coefficients != PixelType::f32 && !is_complex(spec.coefficients)) {
    detail::refuse(stage,
                   std::string("coefficients are f32 or c32, not ") + name_of(spec.coefficients));
  }
  if (is_complex(spec.coefficients) != is_complex(spec.output_type)) {
    detail::refuse(stage, std::string(name_of(spec.coefficients)) +
                              " coefficients cannot be evaluated to " + name_of(spec.output_type) +
                              " pixels");
  }
}

void check_precision(const InterpolateSpec& spec) {
  if (spec.precision == Precision::full) return;
  if ((spec.degree != 1 && spec.degree != 3) || spec.dimensions < 2 ||
      is_complex(spec.coefficients)) {
    detail::refuse(stage,
                   "texture precision requires degree 1 or 3, 2 or 3 dimensions and f32 data");
  }
}

InterpolateSpec checked(const InterpolateSpec& spec) {
  detail::check_dimensions(stage, spec.dimensions);
  detail::check_array(stage, "the image", spec.image);
  detail::check_array(stage, "the output", spec.output);
  const auto flat = [&](const Shape& shape) {
    return (spec.dimensions >= 2 || shape.height == 1) &&
           (spec.dimensions >= 3 || shape.depth == 1);
  };
  if (!flat(spec.image) || !flat(spec.output)) {
    detail::refuse(stage, "image (" + to_string(spec.image) + ") and output (" +
                              to_string(spec.output) + ") must have " +
                              std::to_string(spec.dimensions) + " dimensions");
  }
  if (spec.degree < 0 || spec.degree > 5) {
    detail::refuse(stage, "the degree must be 0 to 5, not " + std::to_string(spec.degree));
  }
  check_types(spec);
  check_precision(spec);
  if (!std::isfinite(spec.cval)) detail::refuse(stage, "cval must be finite");
  detail::check_batch(stage, "the batch of images", spec.image, spec.dimensions, spec.batch);
  detail::check_batch(stage, "the batch of outputs", spec.output, spec.dimensions, spec.batch);
  return spec;
}

Shape all_outputs(const InterpolateSpec& spec) {
  return stacked(spec.output, spec.dimensions, spec.batch);
}

int margin_of(const InterpolateSpec& spec) {
  return spec.prefiltered ? PrefilterPlan::margin(spec.degree, spec.boundary) : 0;
}

void check_numbers(std::initializer_list<double> numbers) {
  for (const double number : numbers) {
    if (!std::isfinite(number)) detail::refuse(stage, "the sampling points hold NaN or infinity");
  }
}

void check_gradient(const InterpolateSpec& spec) {
  if (spec.degree < 1 || spec.precision != Precision::full || spec.output_type != PixelType::f32) {
    detail::refuse(stage, "gradients require degree 1 or more, f32 output and full precision");
  }
}

std::unique_ptr<backend::Interpolate> make_kernel(const Device& device, InterpolateSpec spec) {
  spec.output_type = detail::kernel_type(spec.output_type);
  return detail::Access::driver(device).make(backend::Interpolate::Setup{
      spec, detail::interpolation_details(spec.boundary, margin_of(spec))});
}

}  // namespace

InterpolatePlan::InterpolatePlan(const Device& device, const InterpolateSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(make_kernel(device, spec)),
      converted_(detail::converter_for<detail::ConvertedOutput>(device, spec.output_type,
                                                                all_outputs(spec))) {}

backend::SamplingPoints InterpolatePlan::points_of(const Transform& transform) const {
  detail::check_transform(stage, transform);
  return {.transforms = {&transform, 1}, .coordinates = nullptr, .log_polar = nullptr};
}

backend::SamplingPoints InterpolatePlan::points_of(std::span<const Transform> transforms) const {
  detail::check_transforms(stage, transforms, spec_.batch);
  return {.transforms = transforms, .coordinates = nullptr, .log_polar = nullptr};
}

backend::SamplingPoints InterpolatePlan::points_of(const Image& coordinates) const {
  detail::check_image(stage, "the coordinate field", device_, coordinates, PixelType::f32,
                      coordinates_shape(spec_));
  return {
      .transforms = {}, .coordinates = &detail::Access::memory(coordinates), .log_polar = nullptr};
}

void InterpolatePlan::run(Stream& stream, const Image& coefficients,
                          const backend::SamplingPoints& points, Image& output,
                          Image* gradient) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the coefficients", device_, coefficients, spec_.coefficients,
                      coefficient_shape(spec_));
  detail::check_image(stage, "the output", device_, output, spec_.output_type, all_outputs(spec_));
  detail::check_distinct(stage, coefficients, output);
  backend::Memory* gradient_memory = nullptr;
  if (gradient != nullptr) {
    check_gradient(spec_);
    detail::check_image(stage, "the gradient", device_, *gradient, PixelType::f32,
                        gradient_shape(spec_));
    detail::check_distinct(stage, output, *gradient);
    detail::check_distinct(stage, coefficients, *gradient);
    gradient_memory = &detail::Access::memory(*gradient);
  }
  Image& stored = converted_ ? converted_->pixels() : output;
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(coefficients), points,
                   detail::Access::memory(stored), gradient_memory);
  if (converted_) converted_->convert(stream, output);
}

void InterpolatePlan::execute(Stream& stream, const Image& coefficients,
                              const Transform& output_to_input, Image& output) const {
  run(stream, coefficients, points_of(output_to_input), output, nullptr);
}

void InterpolatePlan::execute(Stream& stream, const Image& coefficients,
                              std::span<const Transform> output_to_input, Image& output) const {
  run(stream, coefficients, points_of(output_to_input), output, nullptr);
}

void InterpolatePlan::execute(Stream& stream, const Image& coefficients, const Image& coordinates,
                              Image& output) const {
  detail::check_distinct(stage, coordinates, output);
  run(stream, coefficients, points_of(coordinates), output, nullptr);
}

void InterpolatePlan::execute(Stream& stream, const Image& coefficients,
                              const LogPolarSampling& grid, Image& output) const {
  if (spec_.dimensions != 2) detail::refuse(stage, "log-polar grids have two dimensions");
  check_numbers({grid.centre_x, grid.centre_y, grid.log_radius0, grid.log_step, grid.angle0,
                 grid.angle_step});
  run(stream, coefficients, {.transforms = {}, .coordinates = nullptr, .log_polar = &grid}, output,
      nullptr);
}

void InterpolatePlan::execute_with_gradient(Stream& stream, const Image& coefficients,
                                            const Transform& output_to_input, Image& output,
                                            Image& gradient) const {
  run(stream, coefficients, points_of(output_to_input), output, &gradient);
}

void InterpolatePlan::execute_with_gradient(Stream& stream, const Image& coefficients,
                                            std::span<const Transform> output_to_input,
                                            Image& output, Image& gradient) const {
  run(stream, coefficients, points_of(output_to_input), output, &gradient);
}

void InterpolatePlan::execute_with_gradient(Stream& stream, const Image& coefficients,
                                            const Image& coordinates, Image& output,
                                            Image& gradient) const {
  detail::check_distinct(stage, coordinates, output);
  detail::check_distinct(stage, coordinates, gradient);
  run(stream, coefficients, points_of(coordinates), output, &gradient);
}

Shape InterpolatePlan::coordinates_shape(const InterpolateSpec& spec) noexcept {
  return {spec.output.width, spec.output.height, spec.output.depth * spec.dimensions};
}

Shape InterpolatePlan::gradient_shape(const InterpolateSpec& spec) noexcept {
  const Shape all = all_outputs(spec);
  return {all.width, all.height, all.depth * spec.dimensions};
}

Shape InterpolatePlan::coefficient_shape(const InterpolateSpec& spec) {
  detail::check_array(stage, "the image", spec.image);
  detail::check_batch(stage, "the batch", spec.image, spec.dimensions, spec.batch);
  return stacked(detail::with_margin(spec.image, spec.dimensions, margin_of(spec)), spec.dimensions,
                 spec.batch);
}

}  // namespace warpalign
