// B-splines from their definition, and the samples beyond an edge.
#include "reference/spline/basis.hpp"

#include <cmath>

namespace reference {

namespace {

double binomial(int n, int k) {
  double result = 1;
  for (int i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
  return result;
}

std::int64_t modulo(std::int64_t k, std::int64_t n) { return ((k % n) + n) % n; }

}  // namespace

// The (n + 1)-fold convolution of the box (equations 1 and 2) as a sum of truncated powers: 1/n!
// sum_j (-1)^j C(n + 1, j) max(0, x + (n + 1)/2 - j)^n. Evaluated left of 0, where fewer powers
// cancel; the B-spline is even.
double beta(int degree, double x) {
  if (degree == 0) return x >= -0.5 && x < 0.5 ? 1 : 0;
  double sum = 0;
  double factorial = 1;
  for (int i = 2; i <= degree; ++i) factorial *= i;
  for (int j = 0; j <= degree + 1; ++j) {
    const double base = -std::abs(x) + (degree + 1) / 2.0 - j;
    if (base <= 0) break;
    sum += (j % 2 == 0 ? 1 : -1) * binomial(degree + 1, j) * std::pow(base, degree);
  }
  return sum / factorial;
}

// From beta_n = beta_0 * beta_(n-1): the derivative of a running mean over one sample.
double beta_slope(int degree, double x) {
  return beta(degree - 1, x + 0.5) - beta(degree - 1, x - 0.5);
}

std::int64_t extended_index(Edge edge, std::int64_t k, std::int64_t n) {
  if (k >= 0 && k < n) return k;
  switch (edge) {
    case Edge::nearest:
      return k < 0 ? 0 : n - 1;
    case Edge::grid_constant:
      return -1;
    case Edge::grid_wrap:
      return modulo(k, n);
    case Edge::reflect: {
      const std::int64_t folded = modulo(k, 2 * n);
      return folded < n ? folded : 2 * n - 1 - folded;
    }
    case Edge::mirror:
    case Edge::constant:  // these two only limit the points; samples are mirrored
    case Edge::wrap:
      break;
  }
  if (n == 1) return 0;
  const std::int64_t folded = modulo(k, 2 * n - 2);
  return folded < n ? folded : 2 * n - 2 - folded;
}

double as_integer(double value, double largest) {
  const double rounded = std::round(value);
  return rounded < 0 ? 0 : (rounded > largest ? largest : rounded);
}

}  // namespace reference
