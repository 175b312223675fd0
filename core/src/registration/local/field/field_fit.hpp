// A smooth field through scattered shifts: penalised least squares.
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

/// The field that minimises the weighted squares of the differences of its means over `window`
/// pixels along x and y (0: of its values at the centres) from the shifts, plus `smoothness` times
/// the integral of its squared second derivatives (a thin plate's energy), with
/// lengths in units of `unit`. Penalised splines: O'Sullivan 1986; Eilers and Marx 1996. There is
/// at least one shift, and all lie within the axes. Throws Error(invalid_argument) where numbers
/// are too different for the equations to be solved.
[[nodiscard]] FieldControls fit_field(const SplineAxis& x, const SplineAxis& y,
                                      std::span<const WeightedShift> shifts, const Point& window,
                                      const Point& unit, double smoothness);

/// The control points of the spline that comes nearest to samples of one component at all pixels.
[[nodiscard]] std::vector<double> fit_samples(const SplineAxis& x, const SplineAxis& y,
                                              std::span<const float> samples, std::size_t width);

}  // namespace warpalign::detail
