// Stage: B-splines in double precision, and exact copies of samples.
#include <warpalign/stages/double_spline.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/spline/details.hpp"

#include <warpalign/backend/stages/spline/double_spline.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <string>

namespace warpalign {

namespace {

constexpr const char* double_spline_stage = "double_spline";
constexpr int max_padding = 4096;

Shape all_outputs(const DoubleSplineSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

DoubleSplineSpec checked(const Device& device, const DoubleSplineSpec& spec) {
  detail::check_degree(double_spline_stage, spec.degree, 0);
  detail::check_shapes(double_spline_stage, spec.images, spec.output);
  detail::check_batch(double_spline_stage, "the batch of images", spec.images);
  detail::check_batch(double_spline_stage, "the batch of outputs",
                      {spec.output, spec.images.dimensions, spec.images.count});
  if (spec.degree > 0 && (spec.pixels == PixelType::c32 || spec.output_pixels == PixelType::c32)) {
    detail::refuse(double_spline_stage, "degrees above 0 need real pixels, not c32");
  }
  if (spec.margin < 0) detail::refuse(double_spline_stage, "the margin must not be negative");
  if (spec.padding < 0 || spec.padding > max_padding) {
    detail::refuse(double_spline_stage, "the padding must be 0 to 4096 samples");
  }
  if (spec.padding > 0 && spec.margin > 0) {
    detail::refuse(double_spline_stage, "images with a margin need no padding");
  }
  if (spec.degree == 0 && (spec.padding > 0 || spec.footprints)) {
    detail::refuse(double_spline_stage,
                   "degree 0 copies samples: it has no padding and no footprints");
  }
  if (!device.info().double_precision) {
    detail::refuse(double_spline_stage,
                   "the device " + device.info().id + " does not support double precision");
  }
  return spec;
}

bool is_filtered(const DoubleSplineSpec& spec) { return spec.prefilter && spec.degree >= 2; }

std::shared_ptr<backend::DoubleSpline> make_kernels(const Device& device,
                                                    const DoubleSplineSpec& spec) {
  return detail::Access::driver(device).make(backend::DoubleSpline::Setup{
      spec, detail::sample_extension(spec.boundary),
      is_filtered(spec) ? PrefilterPlan::poles(spec.degree) : std::vector<double>{}});
}

}  // namespace

DoubleSplinePlan::DoubleSplinePlan(const Device& device, const DoubleSplineSpec& spec)
    : device_(device), spec_(checked(device, spec)), kernels_(make_kernels(device, spec_)) {}

void DoubleSplinePlan::run(Stream& stream, const Image& images, const backend::DoublePoints& points,
                           std::uint64_t outside, Image& output) const {
  detail::check_stream(double_spline_stage, device_, stream);
  detail::check_image(double_spline_stage, "the images", device_, images, spec_.pixels,
                      spec_.images.stacked());
  detail::check_image(double_spline_stage, "the output", device_, output,
                      spec_.degree == 0 ? spec_.pixels : spec_.output_pixels, all_outputs(spec_));
  detail::check_distinct(double_spline_stage, images, output);
  kernels_->enqueue(detail::Access::queue(stream), detail::Access::memory(images), points, outside,
                    detail::Access::memory(output));
}

std::size_t DoubleSplinePlan::scratch_bytes(const DoubleSplineSpec& spec) {
  if (spec.degree == 0) return 0;
  Shape padded = spec.images.shape;
  padded.width += 2 * spec.padding;
  if (spec.images.dimensions > 1) padded.height += 2 * spec.padding;
  if (spec.images.dimensions > 2) padded.depth += 2 * spec.padding;
  const bool loads = spec.pixels != PixelType::f64 || spec.padding > 0;
  // On GPUs, the prefilter takes memory of its own.
  const std::int64_t copies = (loads ? 1 : 0) + (is_filtered(spec) ? 2 : 0);
  std::int64_t numbers = copies * padded.pixels();
  if (spec.output_pixels != PixelType::f64) numbers += spec.output.pixels();
  return static_cast<std::size_t>(numbers * spec.images.count) * sizeof(double);
}

void DoubleSplinePlan::prefilter(Stream& stream, const Image& images, Image& coefficients) const {
  if (!is_filtered(spec_)) detail::refuse(double_spline_stage, "the plan has no prefilter");
  if (spec_.padding > 0) detail::refuse(double_spline_stage, "the plan pads the images");
  const Shape shape = spec_.images.stacked();
  detail::check_stream(double_spline_stage, device_, stream);
  detail::check_image(double_spline_stage, "the images", device_, images, spec_.pixels, shape);
  detail::check_image(double_spline_stage, "the coefficients", device_, coefficients,
                      PixelType::f64, shape);
  detail::check_distinct(double_spline_stage, images, coefficients);
  kernels_->prefilter(detail::Access::queue(stream), detail::Access::memory(images),
                      detail::Access::memory(coefficients));
}

void DoubleSplinePlan::execute(Stream& stream, const Image& images,
                               const HomogeneousMatrix& output_to_input, std::uint64_t outside,
                               Image& output) const {
  detail::check_transform(double_spline_stage, output_to_input);
  run(stream, images, {.matrix = output_to_input.m, .coordinates = nullptr}, outside, output);
}

void DoubleSplinePlan::execute(Stream& stream, const Image& images, const Image& coordinates,
                               std::uint64_t outside, Image& output) const {
  const Shape shape{spec_.output.width, spec_.output.height,
                    spec_.output.depth * spec_.images.dimensions};
  detail::check_image(double_spline_stage, "the coordinates", device_, coordinates, PixelType::f64,
                      shape);
  detail::check_distinct(double_spline_stage, coordinates, output);
  run(stream, images, {.matrix = {}, .coordinates = &detail::Access::memory(coordinates)}, outside,
      output);
}

}  // namespace warpalign
