// Stage: resampling by an affine transform, without aliasing where it shrinks.
#include <warpalign/stages/antialiased_resample.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/converted.hpp"
#include "stages/spline/details.hpp"
#include "stages/spline/footprint.hpp"
#include "stages/uploaded.hpp"

#include <warpalign/backend/stages/spline/footprint_means.hpp>

#include <vector>

namespace warpalign {

namespace {

constexpr const char* footprint_stage = "antialiased_resample";
constexpr std::size_t max_footprint_points = std::size_t{1} << 20;

Shape all_means(const ResampleSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

PrefilterSpec prefilter_for(const ResampleSpec& spec) {
  const bool is_complex = spec.input == PixelType::c32;
  return {.spline = spec.spline,
          .images = spec.images,
          .input = is_complex ? PixelType::c32 : PixelType::f32};
}

ResampleSpec checked(const ResampleSpec& spec, const HomogeneousMatrix& transform) {
  detail::check_spline(footprint_stage, spec.spline);
  detail::check_degree(footprint_stage, spec.spline.degree, 1);
  detail::check_shapes(footprint_stage, spec.images, spec.output);
  detail::check_batch(footprint_stage, "the batch of images", spec.images);
  detail::check_batch(footprint_stage, "the batch of outputs",
                      {spec.output, spec.images.dimensions, spec.images.count});
  detail::check_transform(footprint_stage, transform);
  if (spec.spline.prefilter && *spec.spline.prefilter != PrefilterMethod::exact) {
    detail::refuse(footprint_stage, "the prefilter must be the exact one");
  }
  if (spec.spline.precision != Precision::full) {
    detail::refuse(footprint_stage, "the precision must be full");
  }
  if ((spec.input == PixelType::c32) != (spec.output_type == PixelType::c32)) {
    detail::refuse(footprint_stage, "images and output must both be complex or both be real");
  }
  const auto& m = transform.m;
  if (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1) {
    detail::refuse(footprint_stage, "the transform must be affine");
  }
  return spec;
}

std::vector<float> rows_of(const HomogeneousMatrix& transform) {
  std::vector<float> rows;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t k = 0; k < 4; ++k)
      rows.push_back(static_cast<float>(transform.m[4 * axis + k]));
    for (std::size_t k = 0; k < 4; ++k) {
      const double exact = transform.m[4 * axis + k];
      rows.push_back(static_cast<float>(exact - static_cast<double>(static_cast<float>(exact))));
    }
  }
  return rows;
}

std::vector<backend::FootprintPoint> points_for(const ResampleSpec& spec,
                                                const HomogeneousMatrix& transform) {
  auto points = detail::footprint_of(transform, spec.images.dimensions, max_footprint_points);
  if (points.empty()) {
    detail::refuse(footprint_stage,
                   "the transform shrinks so much that a pixel's footprint has more than 2^20 "
                   "points; reduce the image in several steps");
  }
  return points;
}

}  // namespace

AntialiasedResamplePlan::AntialiasedResamplePlan(const Device& device, const ResampleSpec& spec,
                                                 const HomogeneousMatrix& output_to_input)
    : device_(device),
      spec_(checked(spec, output_to_input)),
      rows_(detail::uploaded(device, rows_of(output_to_input))),
      points_(detail::uploaded(device, points_for(spec_, output_to_input))) {
  const bool is_complex = spec.input == PixelType::c32;
  int margin = 0;
  if (spec.spline.prefilter) {
    const PrefilterSpec part = prefilter_for(spec);
    prefilter_.emplace(device, part);
    coefficients_.emplace(device.make_image(PrefilterPlan::coefficient_type(part.input),
                                            PrefilterPlan::coefficient_shape(part)));
    margin = PrefilterPlan::margin(spec.spline.degree, spec.spline.boundary);
  }
  if (!is_complex && spec.input != PixelType::f32) {
    converted_input_ =
        std::make_shared<detail::ConvertedInput>(device, spec.input, spec.images.stacked());
  }
  if (!is_complex && spec.output_type != PixelType::f32) {
    converted_output_ =
        std::make_shared<detail::ConvertedOutput>(device, spec.output_type, all_means(spec));
  }
  kernel_ = detail::Access::driver(device).make(backend::FootprintMeans::Setup{
      .images = spec.images,
      .output = spec.output,
      .degree = spec.spline.degree,
      .components = is_complex ? 2 : 1,
      .details = detail::interpolation_details(spec.spline.boundary, margin),
      .cval = static_cast<float>(spec.spline.cval),
      .num_points = static_cast<int>(points_.size_bytes() / sizeof(backend::FootprintPoint))});
}

void AntialiasedResamplePlan::execute(Stream& stream, const Image& image, Image& output) {
  detail::check_stream(footprint_stage, device_, stream);
  detail::check_image(footprint_stage, "the image", device_, image, spec_.input,
                      spec_.images.stacked());
  detail::check_image(footprint_stage, "the output", device_, output, spec_.output_type,
                      all_means(spec_));
  detail::check_distinct(footprint_stage, image, output);
  const Image* samples = converted_input_ ? &converted_input_->convert(stream, image) : &image;
  if (prefilter_) {
    prefilter_->execute(stream, *samples, *coefficients_);
    samples = &*coefficients_;
  }
  Image& means = converted_output_ ? converted_output_->pixels() : output;
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(*samples),
                   detail::Access::memory(rows_), detail::Access::memory(points_),
                   detail::Access::memory(means));
  if (converted_output_) converted_output_->convert(stream, output);
}

}  // namespace warpalign
