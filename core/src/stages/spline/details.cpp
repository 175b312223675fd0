// What the boundary modes mean for samples, coefficients and points; shared by the spline stages.
#include "stages/spline/details.hpp"

#include "device/check.hpp"

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

void check_prefilter(const char* stage, PrefilterMethod method, int degree, int taps) {
  check_degree(stage, degree, 2);
  if (method != PrefilterMethod::fir) return;
  check_taps(stage, taps);
  if (degree != 3) refuse(stage, "the FIR prefilter is cubic: degree 3 only");
}

backend::PrefilterDetails prefilter_details(const PrefilterSpec& spec) {
  backend::PrefilterDetails details;
  details.extension = sample_extension(spec.boundary);
  details.margin = PrefilterPlan::margin(spec.degree, spec.boundary);
  details.poles = PrefilterPlan::poles(spec.degree);
  details.horizon = PrefilterPlan::horizon(spec.degree);
  if (spec.method == PrefilterMethod::fir) details.fir_taps = PrefilterPlan::fir_taps(spec.taps);
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

Shape with_margin(const Shape& shape, int dimensions, int margin) noexcept {
  Shape larger = shape;
  larger.width += 2 * margin;
  if (dimensions >= 2) larger.height += 2 * margin;
  if (dimensions >= 3) larger.depth += 2 * margin;
  return larger;
}

}  // namespace warpalign::detail
