// Stage: resampling of an image: prefilter and evaluation in one plan.
#include <warpalign/stages/resample.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/converted.hpp"
#include "stages/spline/details.hpp"
#include "stages/spline/evaluation_spec.hpp"

namespace warpalign {

namespace {

constexpr const char* resample_stage = "resample";

// The spec of the prefilter and the evaluation between the type conversions, if there are any.
// Without a prefilter, kernels load only f32 and c32.
ResampleSpec between_conversions(ResampleSpec spec) {
  const bool loads_all = spec.spline.prefilter.has_value() || spec.input == PixelType::c32;
  spec.input = loads_all ? detail::kernel_type(spec.input) : PixelType::f32;
  spec.output_type = detail::kernel_type(spec.output_type);
  return spec;
}

PrefilterSpec prefilter_spec(const ResampleSpec& spec) {
  return {.spline = spec.spline, .images = spec.images, .input = spec.input};
}

InterpolateSpec interpolate_spec(const ResampleSpec& spec) {
  return {.spline = spec.spline,
          .images = spec.images,
          .output = spec.output,
          .coefficients =
              spec.spline.prefilter ? PrefilterPlan::coefficient_type(spec.input) : spec.input,
          .output_type = spec.output_type};
}

Shape all_outputs(const ResampleSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

// Requires a spec that the prefilter and the evaluation have accepted.
std::unique_ptr<backend::Resample> make_kernel(const Device& device, const ResampleSpec& spec) {
  if (spec.spline.prefilter != PrefilterMethod::exact || spec.spline.precision != Precision::full)
    return nullptr;
  constexpr int margin = 0;
  return detail::Access::driver(device).make(
      backend::Resample::Setup{spec, detail::prefilter_details(prefilter_spec(spec)),
                               detail::interpolation_details(spec.spline.boundary, margin)});
}

}  // namespace

namespace detail {

InterpolateSpec evaluation_of(const ResampleSpec& spec) {
  return interpolate_spec(between_conversions(spec));
}

}  // namespace detail

ResamplePlan::ResamplePlan(const Device& device, const ResampleSpec& spec)
    : device_(device),
      spec_(spec),
      interpolate_(device, detail::evaluation_of(spec)),
      converted_output_(detail::converter_for<detail::ConvertedOutput>(device, spec.output_type,
                                                                       all_outputs(spec))) {
  const ResampleSpec inner = between_conversions(spec);
  if (inner.input != spec.input) {
    converted_input_ =
        std::make_shared<detail::ConvertedInput>(device, spec.input, spec.images.stacked());
  }
  if (!spec.spline.prefilter) return;
  const PrefilterSpec part = prefilter_spec(inner);
  prefilter_.emplace(device, part);
  coefficients_.emplace(device.make_image(PrefilterPlan::coefficient_type(spec.input),
                                          PrefilterPlan::coefficient_shape(part)));
  kernel_ = make_kernel(device, inner);
}

void ResamplePlan::check(Stream& stream, const Image& image, const Image& output) const {
  detail::check_stream(resample_stage, device_, stream);
  detail::check_image(resample_stage, "the image", device_, image, spec_.input,
                      spec_.images.stacked());
  detail::check_image(resample_stage, "the output", device_, output, spec_.output_type,
                      all_outputs(spec_));
  detail::check_distinct(resample_stage, image, output);
}

const Image& ResamplePlan::loaded(Stream& stream, const Image& image) const {
  return converted_input_ ? converted_input_->convert(stream, image) : image;
}

const Image& ResamplePlan::coefficients_of(Stream& stream, const Image& loaded) {
  if (!prefilter_) return loaded;
  prefilter_->execute(stream, loaded, *coefficients_);
  return *coefficients_;
}

void ResamplePlan::run(Stream& stream, const Image& image,
                       std::span<const HomogeneousMatrix> transforms, Image& output) {
  const Image& pixels = loaded(stream, image);
  Image& stored = converted_output_ ? converted_output_->pixels() : output;
  const bool done =
      kernel_ && kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(pixels),
                                  transforms, detail::Access::memory(stored));
  if (!done) {
    const Image& coefficients = coefficients_of(stream, pixels);
    if (transforms.size() == 1) {
      interpolate_.execute(stream, coefficients, transforms.front(), stored);
    } else {
      interpolate_.execute(stream, coefficients, transforms, stored);
    }
  }
  if (converted_output_) converted_output_->convert(stream, output);
}

void ResamplePlan::execute(Stream& stream, const Image& image,
                           const HomogeneousMatrix& output_to_input, Image& output) {
  check(stream, image, output);
  detail::check_transform(resample_stage, output_to_input);
  run(stream, image, {&output_to_input, 1}, output);
}

void ResamplePlan::execute(Stream& stream, const Image& image,
                           std::span<const HomogeneousMatrix> output_to_input, Image& output) {
  check(stream, image, output);
  detail::check_transforms(resample_stage, output_to_input, spec_.images.count);
  run(stream, image, output_to_input, output);
}

void ResamplePlan::execute(Stream& stream, const Image& image, const Image& coordinates,
                           Image& output) {
  check(stream, image, output);
  detail::check_image(resample_stage, "the coordinate field", device_, coordinates, PixelType::f32,
                      InterpolatePlan::coordinates_shape(interpolate_spec(spec_)));
  detail::check_distinct(resample_stage, coordinates, output);
  Image& stored = converted_output_ ? converted_output_->pixels() : output;
  interpolate_.execute(stream, coefficients_of(stream, loaded(stream, image)), coordinates, stored);
  if (converted_output_) converted_output_->convert(stream, output);
}

}  // namespace warpalign
