// What the boundary modes mean for samples, coefficients and points; shared by the spline stages.
#pragma once

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/boundary.hpp>
#include <warpalign/pixel.hpp>

namespace warpalign::detail {

/// How the prefilter extends samples beyond the edges. `constant` and `wrap` only concern where
/// points lie; for these modes samples are extended by mirroring, as in SciPy.
backend::Extension sample_extension(Boundary boundary) noexcept;

/// Throws Error(invalid_argument) where no prefilter is of this degree or, for `fir`, has so many
/// taps.
void check_prefilter(const char* stage, PrefilterMethod method, int degree, int taps);

/// The same for a degree and for a number of taps alone.
void check_degree(const char* stage, int degree, int lowest);
void check_taps(const char* stage, int taps);

/// The details that follow from a valid spec.
backend::PrefilterDetails prefilter_details(const PrefilterSpec& spec);

/// How evaluation treats points and neighbours. `margin` is that of the coefficients.
backend::InterpolateDetails interpolation_details(Boundary boundary, int margin) noexcept;

/// The shape, enlarged by `margin` on both sides of each of its first `dimensions` axes.
Shape with_margin(const Shape& shape, int dimensions, int margin) noexcept;

}  // namespace warpalign::detail
