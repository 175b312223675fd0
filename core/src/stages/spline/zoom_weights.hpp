// The weights with which a zoom along one axis sums samples, computed in double precision.
#pragma once

#include <warpalign/boundary.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// A zoom along one axis.
struct ZoomAxis {
  std::int64_t n_input = 1;
  std::int64_t n_output = 1;
  bool align_edges = false;  ///< aligns the edges of the end samples, not their centres
  int degree = 3;            ///< of the spline, 1 to 5
  bool prefilter = true;     ///< false: the samples are the coefficients
  Boundary boundary = Boundary::mirror;
  double cval = 0;
  bool in_double = false;  ///< whether the sums are to be those of doubles, and not of floats

  [[nodiscard]] bool is_changed() const { return n_input != n_output; }
  /// Samples of the input for each sample of the output. An output of one sample stands for all of
  /// them.
  [[nodiscard]] double step() const;
  /// The position of an output in the input.
  [[nodiscard]] double position(std::int64_t output) const;
};

/// Sums along an axis: see WeightedSumsPlan.
struct AxisSums {
  std::int64_t n_input = 1;
  std::int64_t n_output = 1;
  int taps = 0;
  std::vector<std::int32_t> first;
  std::vector<double> weights, added;
};

/// The sums that evaluate the spline of the samples, which a Gaussian has smoothed if the axis
/// shrinks. Weights below 1e-9 of the largest are 0; below 1e-18 for doubles.
[[nodiscard]] AxisSums gaussian_zoom(const ZoomAxis& axis);

/// The sums, one after the other, that evaluate the spline with the output's spacing which is
/// nearest to the input's spline in the mean square. The axis shrinks, and its boundary mode
/// extends input and output alike (is_projectable).
[[nodiscard]] std::vector<AxisSums> least_squares_zoom(const ZoomAxis& axis);

/// Whether the boundary mode mirrors the samples where the ends of input and output coincide, or
/// repeats them with a period that is that of both.
[[nodiscard]] bool is_projectable(const ZoomAxis& axis);

}  // namespace warpalign::detail
