// What the boundary modes mean for samples, coefficients and points; shared by the spline stages.
#pragma once

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/boundary.hpp>
#include <warpalign/pixel.hpp>

namespace warpalign::detail {

/// How the prefilter extends samples beyond the edges. `constant` and `wrap` only concern where
/// points lie; for these modes samples are extended by mirroring, as in SciPy.
backend::Extension sample_extension(Boundary boundary) noexcept;

/// The details that follow from a valid spec.
backend::PrefilterDetails prefilter_details(const PrefilterSpec& spec);

/// How evaluation treats points and neighbours. `margin` is that of the coefficients.
backend::InterpolateDetails interpolation_details(Boundary boundary, int margin) noexcept;

/// The shape, enlarged by `margin` on both sides of each of its first `dimensions` axes.
Shape with_margin(const Shape& shape, int dimensions, int margin) noexcept;

}  // namespace warpalign::detail
