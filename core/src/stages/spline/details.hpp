// What the boundary modes mean for samples, coefficients and points; shared by both spline stages.
#pragma once

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/boundary.hpp>
#include <warpalign/pixel.hpp>

namespace warpalign::detail {

/// How samples count as extended while they are prefiltered. `constant` and `wrap` say only where
/// points may lie: their samples are extended by mirroring, as in SciPy.
backend::Extension sample_extension(Boundary boundary) noexcept;

/// What follows from a valid spec.
backend::PrefilterDetails prefilter_details(const PrefilterSpec& spec);

/// How points and neighbours are treated in evaluation; `margin` as the coefficients have it.
backend::InterpolateDetails interpolation_details(Boundary boundary, int margin) noexcept;

/// The shape with `margin` more on both sides of its first `dimensions` axes.
Shape with_margin(const Shape& shape, int dimensions, int margin) noexcept;

}  // namespace warpalign::detail
