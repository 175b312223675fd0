// A spline of the oracle: its coefficients and the parameters of its evaluation.
#pragma once

#include "reference/spline/basis.hpp"
#include "reference/volume.hpp"

#include <complex>

namespace reference {

/// A spline: its coefficients and the parameters of its evaluation.
template <class T>
struct SplineOf {
  VolumeOf<T> coefficients;  ///< plus `margin` on both sides of the first `dimensions` axes
  std::int64_t margin = 0;
  int dimensions = 2;
  int degree = 3;
  Edge edge = Edge::mirror;
  double cval = 0;
  [[nodiscard]] std::int64_t extent(int axis) const {
    return coefficients.extents()[static_cast<std::size_t>(axis)] - 2 * margin;
  }
};

using Spline = SplineOf<double>;
using ComplexSpline = SplineOf<std::complex<double>>;

}  // namespace reference
