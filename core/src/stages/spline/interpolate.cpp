// Stage: evaluation of a B-spline at arbitrary points.
#include <warpalign/stages/interpolate.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/converted.hpp"
#include "stages/spline/details.hpp"
#include "stages/spline/evaluation_spec.hpp"

#include <warpalign/stages/prefilter.hpp>

#include <cmath>
#include <initializer_list>

namespace warpalign {

namespace {

constexpr const char* interpolate_stage = "interpolate";

bool is_complex(PixelType type) { return type == PixelType::c32; }

void check_types(const InterpolateSpec& spec) {
  if (spec.coefficients != PixelType::f32 && !is_complex(spec.coefficients)) {
    detail::refuse(interpolate_stage,
                   std::string("coefficients are f32 or c32, not ") + name_of(spec.coefficients));
  }
  if (is_complex(spec.coefficients) != is_complex(spec.output_type)) {
    detail::refuse(interpolate_stage, std::string(name_of(spec.coefficients)) +
                                          " coefficients cannot be evaluated to " +
                                          name_of(spec.output_type) + " pixels");
  }
}

void check_precision(const InterpolateSpec& spec) {
  if (spec.spline.precision == Precision::full) return;
  if ((spec.spline.degree != 1 && spec.spline.degree != 3) || spec.images.dimensions < 2 ||
      is_complex(spec.coefficients)) {
    detail::refuse(interpolate_stage,
                   "texture precision requires degree 1 or 3, 2 or 3 dimensions and f32 data");
  }
}

InterpolateSpec checked(const InterpolateSpec& spec) {
  detail::check_shapes(interpolate_stage, spec.images, spec.output);
  detail::check_degree(interpolate_stage, spec.spline.degree, 0);
  check_types(spec);
  check_precision(spec);
  detail::check_cval(interpolate_stage, spec.spline.cval);
  detail::check_batch(interpolate_stage, "the batch of images", spec.images);
  detail::check_batch(interpolate_stage, "the batch of outputs",
                      {spec.output, spec.images.dimensions, spec.images.count});
  return spec;
}

Shape all_outputs(const InterpolateSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

void check_numbers(std::initializer_list<double> numbers) {
  for (const double number : numbers) {
    if (!std::isfinite(number)) {
      detail::refuse(interpolate_stage, "the log-polar grid contains NaN or infinity");
    }
  }
}

void check_gradient(const InterpolateSpec& spec) {
  if (spec.spline.degree < 1 || spec.spline.precision != Precision::full ||
      spec.output_type != PixelType::f32) {
    detail::refuse(interpolate_stage,
                   "gradients require degree 1 or more, f32 output and full precision");
  }
}

std::unique_ptr<backend::Interpolate> make_kernel(const Device& device, InterpolateSpec spec) {
  spec.output_type = detail::kernel_type(spec.output_type);
  return detail::Access::driver(device).make(backend::Interpolate::Setup{
      spec, detail::interpolation_details(spec.spline.boundary, detail::margin_of(spec))});
}

}  // namespace

namespace detail {

int margin_of(const InterpolateSpec& spec) {
  return spec.spline.prefilter ? PrefilterPlan::margin(spec.spline.degree, spec.spline.boundary)
                               : 0;
}

}  // namespace detail

InterpolatePlan::InterpolatePlan(const Device& device, const InterpolateSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(make_kernel(device, spec)),
      converted_(detail::converter_for<detail::ConvertedOutput>(device, spec.output_type,
                                                                all_outputs(spec))) {}

backend::SamplingPoints InterpolatePlan::points_of(const HomogeneousMatrix& transform) const {
  detail::check_transform(interpolate_stage, transform);
  return {.transforms = {&transform, 1}, .coordinates = nullptr, .log_polar = nullptr};
}

backend::SamplingPoints InterpolatePlan::points_of(
    std::span<const HomogeneousMatrix> transforms) const {
  detail::check_transforms(interpolate_stage, transforms, spec_.images.count);
  return {.transforms = transforms, .coordinates = nullptr, .log_polar = nullptr};
}

backend::SamplingPoints InterpolatePlan::points_of(const Image& coordinates) const {
  detail::check_image(interpolate_stage, "the coordinate field", device_, coordinates,
                      PixelType::f32, coordinates_shape(spec_));
  return {
      .transforms = {}, .coordinates = &detail::Access::memory(coordinates), .log_polar = nullptr};
}

void InterpolatePlan::run(Stream& stream, const Image& coefficients,
                          const backend::SamplingPoints& points, Image& output,
                          Image* gradient) const {
  detail::check_stream(interpolate_stage, device_, stream);
  detail::check_image(interpolate_stage, "the coefficients", device_, coefficients,
                      spec_.coefficients, coefficient_shape(spec_));
  detail::check_image(interpolate_stage, "the output", device_, output, spec_.output_type,
                      all_outputs(spec_));
  detail::check_distinct(interpolate_stage, coefficients, output);
  backend::Memory* gradient_memory = nullptr;
  if (gradient != nullptr) {
    check_gradient(spec_);
    detail::check_image(interpolate_stage, "the gradient", device_, *gradient, PixelType::f32,
                        gradient_shape(spec_));
    detail::check_distinct(interpolate_stage, output, *gradient);
    detail::check_distinct(interpolate_stage, coefficients, *gradient);
    gradient_memory = &detail::Access::memory(*gradient);
  }
  Image& stored = converted_ ? converted_->pixels() : output;
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(coefficients), points,
                   detail::Access::memory(stored), gradient_memory);
  if (converted_) converted_->convert(stream, output);
}

void InterpolatePlan::execute(Stream& stream, const Image& coefficients,
                              const HomogeneousMatrix& output_to_input, Image& output) const {
  run(stream, coefficients, points_of(output_to_input), output, nullptr);
}

void InterpolatePlan::execute(Stream& stream, const Image& coefficients,
                              std::span<const HomogeneousMatrix> output_to_input,
                              Image& output) const {
  run(stream, coefficients, points_of(output_to_input), output, nullptr);
}

void InterpolatePlan::execute(Stream& stream, const Image& coefficients, const Image& coordinates,
                              Image& output) const {
  detail::check_distinct(interpolate_stage, coordinates, output);
  run(stream, coefficients, points_of(coordinates), output, nullptr);
}

void InterpolatePlan::execute(Stream& stream, const Image& coefficients,
                              const LogPolarSampling& grid, Image& output) const {
  if (spec_.images.dimensions != 2) {
    detail::refuse(interpolate_stage, "log-polar grids require two-dimensional images");
  }
  check_numbers({grid.centre_x, grid.centre_y, grid.log_radius0, grid.log_step, grid.angle0,
                 grid.angle_step});
  run(stream, coefficients, {.transforms = {}, .coordinates = nullptr, .log_polar = &grid}, output,
      nullptr);
}

void InterpolatePlan::execute_with_gradient(Stream& stream, const Image& coefficients,
                                            const HomogeneousMatrix& output_to_input, Image& output,
                                            Image& gradient) const {
  run(stream, coefficients, points_of(output_to_input), output, &gradient);
}

void InterpolatePlan::execute_with_gradient(Stream& stream, const Image& coefficients,
                                            std::span<const HomogeneousMatrix> output_to_input,
                                            Image& output, Image& gradient) const {
  run(stream, coefficients, points_of(output_to_input), output, &gradient);
}

void InterpolatePlan::execute_with_gradient(Stream& stream, const Image& coefficients,
                                            const Image& coordinates, Image& output,
                                            Image& gradient) const {
  detail::check_distinct(interpolate_stage, coordinates, output);
  detail::check_distinct(interpolate_stage, coordinates, gradient);
  run(stream, coefficients, points_of(coordinates), output, &gradient);
}

Shape InterpolatePlan::coordinates_shape(const InterpolateSpec& spec) noexcept {
  return {spec.output.width, spec.output.height, spec.output.depth * spec.images.dimensions};
}

Shape InterpolatePlan::gradient_shape(const InterpolateSpec& spec) noexcept {
  const Shape all = all_outputs(spec);
  return {all.width, all.height, all.depth * spec.images.dimensions};
}

Shape InterpolatePlan::coefficient_shape(const InterpolateSpec& spec) {
  detail::check_array(interpolate_stage, "the image", spec.images.shape);
  detail::check_batch(interpolate_stage, "the batch", spec.images);
  return detail::coefficient_shape(spec.images, detail::margin_of(spec));
}

}  // namespace warpalign
