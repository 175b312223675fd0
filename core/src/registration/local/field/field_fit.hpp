// Fits a smooth field to scattered shifts by penalised least squares.
#pragma once

#include "registration/local/field/outliers.hpp"
#include "registration/local/field/spline_axis.hpp"

#include <warpalign/geometry.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// The control points of a tensor product of cubic splines, row by row.
struct FieldControls {
  std::vector<double> x, y;
};

/// A field: the axes of its splines, and their control points.
struct FieldSplines {
  SplineAxis x, y;
  FieldControls controls;
};

/// Fits a field to shifts (penalised splines: O'Sullivan 1986; Eilers and Marx 1996). The fit
/// minimises the sum of two terms: the weighted squared differences between the shifts and the
/// field's means over `window` pixels along x and y (0: its values at the centres), and
/// `smoothness` times the integral of the field's squared second derivatives (a thin plate's
/// energy), with lengths in units of `unit`. There must be at least one shift, and all must lie
/// within the axes. Throws Error(invalid_argument) if the equations are too ill-conditioned.
[[nodiscard]] FieldControls fit_field(const SplineAxis& x, const SplineAxis& y,
                                      std::span<const WeightedShift> shifts, const Point& window,
                                      const Point& unit, double smoothness);

/// The control points of the least squares spline for samples of one component at all pixels.
[[nodiscard]] std::vector<double> fit_samples(const SplineAxis& x, const SplineAxis& y,
                                              std::span<const float> samples, std::size_t width);

}  // namespace warpalign::detail
