// Filters of samples for which the host computes weights, in double precision.
#pragma once

#include <vector>

namespace warpalign::detail {

/// A symmetric filter: the weights of the samples -radius to radius around an output.
using SymmetricFilter = std::vector<double>;

[[nodiscard]] inline int radius_of(const SymmetricFilter& filter) {
  return static_cast<int>(filter.size() / 2);
}

/// The Gaussian of scipy.ndimage.gaussian_filter with truncate=4: sampled at the integers up to
/// 4 sigma, rounded, and scaled to the sum 1. The identity if sigma is 0.
[[nodiscard]] SymmetricFilter gaussian_filter(double sigma);
/// The samples of the B-spline of a degree at the integers.
[[nodiscard]] SymmetricFilter bspline_filter(int degree);
/// The filter whose convolution with the given one is the identity, without the ends that are below
/// `negligible` times the largest weight. The given one is a bspline_filter of degree 11 or less.
[[nodiscard]] SymmetricFilter inverse_filter(const SymmetricFilter& filter, double negligible);
[[nodiscard]] SymmetricFilter convolved(const SymmetricFilter& a, const SymmetricFilter& b);

/// The B-spline of a degree, centred at 0.
[[nodiscard]] double bspline_value(int degree, double x);
/// The weights of the degree + 1 coefficients around a point, and the first of them.
struct SplineWeights {
  double first;  ///< an integer
  std::vector<double> weights;
};
[[nodiscard]] SplineWeights spline_weights(int degree, double x);

/// The nodes in (-1, 1) and the weights of Gauss-Legendre quadrature.
struct Quadrature {
  std::vector<double> nodes, weights;
};
[[nodiscard]] Quadrature gauss_legendre(int points);

}  // namespace warpalign::detail
