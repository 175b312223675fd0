// The boundary modes' rules for samples, coefficients and points; shared by the spline stages.
#include "stages/spline/details.hpp"

#include "device/check.hpp"

#include <cmath>
#include <string>

namespace warpalign::detail {

namespace {

constexpr int max_taps = 63;

}  // namespace

using backend::Extension;
using Points = backend::InterpolateDetails::Points;

Extension sample_extension(Boundary boundary) noexcept {
  switch (boundary) {
    case Boundary::reflect:
      return Extension::reflect;
    case Boundary::nearest:
      return Extension::clamp;
    case Boundary::grid_constant:
      return Extension::fill;
    case Boundary::grid_wrap:
      return Extension::periodic;
    case Boundary::mirror:
    case Boundary::constant:
    case Boundary::wrap:
      break;
  }
  return Extension::mirror;
}

void check_degree(const char* stage, int degree, int lowest) {
  if (degree >= lowest && degree <= 5) return;
  refuse(stage,
         "the degree must be " + std::to_string(lowest) + " to 5, not " + std::to_string(degree));
}

void check_taps(const char* stage, int taps) {
  if (taps >= 3 && taps <= max_taps && taps % 2 == 1) return;
  refuse(stage, "the FIR prefilter takes an odd number of taps from 3 to " +
                    std::to_string(max_taps) + ", not " + std::to_string(taps));
}

void check_cval(const char* stage, double cval) {
  if (!std::isfinite(cval)) refuse(stage, "cval must be finite");
}

void check_spline(const char* stage, const SplineModel& spline) {
  check_degree(stage, spline.degree, spline.prefilter ? 2 : 0);
  if (spline.prefilter == PrefilterMethod::fir) {
    check_taps(stage, spline.taps);
    if (spline.degree != 3) refuse(stage, "the FIR prefilter is cubic: degree 3 only");
  }
  check_cval(stage, spline.cval);
}

void check_shapes(const char* stage, const ImageBatch& images, const Shape& output) {
  check_dimensions(stage, images.dimensions);
  check_array(stage, "the image", images.shape);
  check_array(stage, "the output", output);
  const auto is_flat = [&](const Shape& shape) {
    return (images.dimensions >= 2 || shape.height == 1) &&
           (images.dimensions >= 3 || shape.depth == 1);
  };
  if (is_flat(images.shape) && is_flat(output)) return;
  refuse(stage, "image (" + to_string(images.shape) + ") and output (" + to_string(output) +
                    ") must have " + std::to_string(images.dimensions) + " dimensions");
}

backend::PrefilterDetails prefilter_details(const PrefilterSpec& spec) {
  backend::PrefilterDetails details;
  details.extension = sample_extension(spec.spline.boundary);
  details.margin = PrefilterPlan::margin(spec.spline.degree, spec.spline.boundary);
  details.poles = PrefilterPlan::poles(spec.spline.degree);
  details.horizon = PrefilterPlan::horizon(spec.spline.degree);
  if (spec.spline.prefilter == PrefilterMethod::fir)
    details.fir_taps = PrefilterPlan::fir_taps(spec.spline.taps);
  return details;
}

backend::InterpolateDetails interpolation_details(Boundary boundary, int margin) noexcept {
  backend::InterpolateDetails details;
  details.extension = sample_extension(boundary);
  details.margin = margin;
  if (boundary == Boundary::constant) details.points = Points::reject_outside;
  if (boundary == Boundary::nearest) details.points = Points::clamp_to_margin;
  if (boundary == Boundary::wrap) details.points = Points::period_minus_one;
  return details;
}

Shape coefficient_shape(const ImageBatch& images, int margin) noexcept {
  ImageBatch larger = images;
  larger.shape.width += 2 * margin;
  if (images.dimensions >= 2) larger.shape.height += 2 * margin;
  if (images.dimensions >= 3) larger.shape.depth += 2 * margin;
  return larger.stacked();
}

}  // namespace warpalign::detail
