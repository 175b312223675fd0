// Stage: conversion of samples to B-spline coefficients.
#include <warpalign/stages/prefilter.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/converted.hpp"
#include "stages/spline/details.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace warpalign {

namespace {

constexpr const char* prefilter_stage = "prefilter";

PrefilterSpec checked(const PrefilterSpec& spec) {
  detail::check_array(prefilter_stage, "the array", spec.images.shape);
  detail::check_dimensions(prefilter_stage, spec.images.dimensions);
  if (!spec.spline.prefilter) detail::refuse(prefilter_stage, "the spline must have a prefilter");
  detail::check_spline(prefilter_stage, spec.spline);
  detail::check_batch(prefilter_stage, "the batch", spec.images);
  return spec;
}

struct Poles {
  int count = 0;
  std::array<double, 2> values{};
};

// Unser, "Splines: a perfect fit for signal and image processing", 1999, Table I. The closed forms
// are the roots of the degree's B-spline polynomial that lie within the unit circle. The closed
// forms of degrees 4 and 5 would lose two digits to cancellation in double precision. Their values
// are therefore written as numbers:
//   4: sqrt(664 -+ sqrt(438976)) +- sqrt(304) - 19
//   5: sqrt(135 / 2 -+ sqrt(17745 / 4)) +- sqrt(105 / 4) - 13 / 2
Poles poles_of(int degree) {
  switch (degree) {
    case 2:
      return {1, {std::sqrt(8.0) - 3}};
    case 3:
      return {1, {std::sqrt(3.0) - 2}};
    case 4:
      return {2, {-0.361341225900220177, -0.0137254292973391214}};
    case 5:
      return {2, {-0.430575347099973792, -0.0430962882032646538}};
    default:
      return {};
  }
}

// Describes the same memory without filtered axes that have only one sample. If the boundary mode
// repeats this sample without end, it equals its coefficient, and a recursion would only add
// rounding errors. Keeps at least one axis.
PrefilterSpec squeezed(const PrefilterSpec& spec, const backend::PrefilterDetails& details) {
  if (details.margin > 0) return spec;
  std::vector<std::int64_t> extents{spec.images.shape.width, spec.images.shape.height,
                                    spec.images.shape.depth};
  PrefilterSpec result = spec;
  for (int axis = spec.images.dimensions - 1; axis >= 0; --axis) {
    if (extents[static_cast<std::size_t>(axis)] != 1 || result.images.dimensions == 1) continue;
    extents.erase(extents.begin() + axis);
    extents.push_back(1);
    --result.images.dimensions;
  }
  result.images.shape = {extents[0], extents[1], extents[2]};
  return result;
}

// Lines and images are independent of each other, so a batch of them is a larger stack.
PrefilterSpec unbatched(const PrefilterSpec& spec) {
  if (spec.images.dimensions == 3) return spec;
  PrefilterSpec result = spec;
  result.images.shape.depth *= spec.images.count;
  result.images.count = 1;
  return result;
}

std::unique_ptr<backend::Prefilter> make_kernel(const Device& device, PrefilterSpec spec) {
  const backend::PrefilterDetails details = detail::prefilter_details(checked(spec));
  spec.input = detail::kernel_type(spec.input);
  return detail::Access::driver(device).make(
      backend::Prefilter::Setup{unbatched(squeezed(spec, details)), details});
}

}  // namespace

PrefilterPlan::PrefilterPlan(const Device& device, const PrefilterSpec& spec)
    : device_(device),
      spec_(spec),
      kernel_(make_kernel(device, spec)),
      converted_(detail::converter_for<detail::ConvertedInput>(device, spec.input,
                                                               spec.images.stacked())) {}

void PrefilterPlan::execute(Stream& stream, const Image& samples, Image& coefficients) const {
  detail::check_stream(prefilter_stage, device_, stream);
  detail::check_image(prefilter_stage, "the samples", device_, samples, spec_.input,
                      spec_.images.stacked());
  detail::check_image(prefilter_stage, "the coefficients", device_, coefficients,
                      coefficient_type(spec_.input), coefficient_shape(spec_));
  detail::check_distinct(prefilter_stage, samples, coefficients);
  const Image& loaded = converted_ ? converted_->convert(stream, samples) : samples;
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(loaded),
                   detail::Access::memory(coefficients));
}

int PrefilterPlan::margin(int degree, Boundary boundary) {
  detail::check_degree(prefilter_stage, degree, 0);
  const bool kept = boundary == Boundary::nearest || boundary == Boundary::grid_constant;
  return kept && degree >= 2 ? horizon(degree) : 0;
}

Shape PrefilterPlan::coefficient_shape(const PrefilterSpec& spec) {
  detail::check_array(prefilter_stage, "the array", spec.images.shape);
  detail::check_batch(prefilter_stage, "the batch", spec.images);
  return detail::coefficient_shape(spec.images, margin(spec.spline.degree, spec.spline.boundary));
}

PixelType PrefilterPlan::coefficient_type(PixelType samples) {
  return samples == PixelType::c32 ? PixelType::c32 : PixelType::f32;
}

std::vector<double> PrefilterPlan::poles(int degree) {
  detail::check_degree(prefilter_stage, degree, 0);
  const Poles poles = poles_of(degree);
  return {poles.values.begin(), poles.values.begin() + poles.count};
}

int PrefilterPlan::horizon(int degree) {
  detail::check_degree(prefilter_stage, degree, 0);
  double slowest = 0;  // unused entries of the poles are 0
  for (const double z : poles_of(degree).values) slowest = std::max(slowest, std::abs(z));
  return slowest == 0 ? 0 : static_cast<int>(std::ceil(std::log(0x1p-24) / std::log(slowest)));
}

std::vector<double> PrefilterPlan::fir_taps(int taps) {
  detail::check_taps(prefilter_stage, taps);
  const int k = taps / 2;
  const double root = std::numbers::sqrt3;
  std::vector<double> values;
  double sum = 0;
  for (int i = -k; i <= k; ++i) {
    values.push_back(root * std::pow(root - 2, std::abs(i)));
    sum += values.back();
  }
  for (double& value : values) value /= sum;
  return values;
}

}  // namespace warpalign
