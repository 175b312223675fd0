// The boundary modes' rules for samples, coefficients and points; shared by the spline stages.
#pragma once

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/boundary.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/stages/spline_model.hpp>

namespace warpalign::detail {

/// How the prefilter extends samples beyond the edges. `constant` and `wrap` affect only the
/// points; the prefilter then mirrors the samples, as in SciPy.
backend::Extension sample_extension(Boundary boundary) noexcept;

/// Throws Error(invalid_argument) if the degree is out of range, if the prefilter does not support
/// the degree or the number of taps, or if cval is not finite.
void check_spline(const char* stage, const SplineModel& spline);

/// The checks of single members.
void check_degree(const char* stage, int degree, int lowest);
void check_taps(const char* stage, int taps);
void check_cval(const char* stage, double cval);

/// Throws Error(invalid_argument) unless one image and its output have the batch's dimensions.
void check_shapes(const char* stage, const ImageBatch& images, const Shape& output);

/// The details for a valid spec.
backend::PrefilterDetails prefilter_details(const PrefilterSpec& spec);

/// How the evaluation maps points and neighbours. `margin` is the margin of the coefficients.
backend::InterpolateDetails interpolation_details(Boundary boundary, int margin) noexcept;

/// The shape of the coefficients of all arrays, with a margin of `margin` coefficients at both ends
/// of every filtered axis.
Shape coefficient_shape(const ImageBatch& images, int margin) noexcept;

}  // namespace warpalign::detail
