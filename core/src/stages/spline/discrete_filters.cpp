// Filters of samples for which the host computes weights, in double precision.
#include "stages/spline/discrete_filters.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

// The slowest pole of a B-spline of degree 11 to this power is below 1e-20.
constexpr int inverse_radius = 128;

SymmetricFilter without_negligible_ends(const SymmetricFilter& filter, double negligible) {
  const double largest = std::abs(filter[filter.size() / 2]);
  std::size_t skipped = 0;
  while (skipped < filter.size() / 2 && std::abs(filter[skipped]) < negligible * largest) {
    ++skipped;
  }
  return {filter.begin() + static_cast<std::ptrdiff_t>(skipped),
          filter.end() - static_cast<std::ptrdiff_t>(skipped)};
}

}  // namespace

SymmetricFilter gaussian_filter(double sigma) {
  if (!(sigma > 0)) return {1.0};
  constexpr double cut_off = 4;
  const int radius = static_cast<int>(cut_off * sigma + 0.5);
  SymmetricFilter filter;
  double sum = 0;
  for (int k = -radius; k <= radius; ++k) {
    filter.push_back(std::exp(-0.5 * k * k / (sigma * sigma)));
    sum += filter.back();
  }
  for (double& weight : filter) weight /= sum;
  return filter;
}

// The recursion of Cox and de Boor: all terms are positive.
SplineWeights spline_weights(int degree, double x) {
  const double shifted = degree % 2 == 0 ? x + 0.5 : x;
  const double whole = std::floor(shifted);
  const double t = shifted - whole;
  SplineWeights result{whole - (degree % 2 == 0 ? degree / 2 : (degree - 1) / 2),
                       std::vector<double>(static_cast<std::size_t>(degree) + 1)};
  std::vector<double>& w = result.weights;
  w[0] = 1;
  for (int k = 1; k <= degree; ++k) {
    double saved = 0;
    for (int r = 0; r < k; ++r) {
      const auto at = static_cast<std::size_t>(r);
      const double part = w[at] / k;
      w[at] = saved + (r + 1 - t) * part;
      saved = (t + (k - 1 - r)) * part;
    }
    w[static_cast<std::size_t>(k)] = saved;
  }
  return result;
}

double bspline_value(int degree, double x) {
  const SplineWeights at = spline_weights(degree, x);
  const double k = -at.first;  // the coefficient at 0
  return k >= 0 && k <= degree ? at.weights[static_cast<std::size_t>(k)] : 0.0;
}

SymmetricFilter bspline_filter(int degree) {
  const int radius = degree / 2;
  SymmetricFilter filter;
  for (int k = -radius; k <= radius; ++k) filter.push_back(bspline_value(degree, k));
  return filter;
}

// Gaussian elimination of a banded system, which is positive definite and needs no pivots.
SymmetricFilter inverse_filter(const SymmetricFilter& filter, double negligible) {
  const int band = radius_of(filter);
  if (band == 0) return {1 / filter[0]};
  constexpr int n = 2 * inverse_radius + 1;
  const int width = 2 * band + 1;
  std::vector<double> rows(static_cast<std::size_t>(n * width));
  const auto at = [&](int row, int column) -> double& {
    return rows[static_cast<std::size_t>(row * width + column - row + band)];
  };
  for (int row = 0; row < n; ++row) {
    std::ranges::copy(filter, rows.begin() + static_cast<std::ptrdiff_t>(row) * width);
  }
  std::vector<double> x(n);
  const auto value = [&](int i) -> double& { return x[static_cast<std::size_t>(i)]; };
  value(inverse_radius) = 1;
  for (int pivot = 0; pivot < n; ++pivot) {
    for (int row = pivot + 1; row <= std::min(pivot + band, n - 1); ++row) {
      const double factor = at(row, pivot) / at(pivot, pivot);
      for (int column = pivot; column <= std::min(pivot + band, n - 1); ++column) {
        at(row, column) -= factor * at(pivot, column);
      }
      value(row) -= factor * value(pivot);
    }
  }
  for (int row = n - 1; row >= 0; --row) {
    for (int column = row + 1; column <= std::min(row + band, n - 1); ++column) {
      value(row) -= at(row, column) * value(column);
    }
    value(row) /= at(row, row);
  }
  return without_negligible_ends(x, negligible);
}

SymmetricFilter convolved(const SymmetricFilter& a, const SymmetricFilter& b) {
  SymmetricFilter result(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) result[i + k] += a[i] * b[k];
  }
  return result;
}

// Newton's method for the roots of the Legendre polynomial.
Quadrature gauss_legendre(int points) {
  Quadrature rule;
  for (int i = 0; i < points; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (points + 0.5));
    double slope = 0;
    for (int iteration = 0; iteration < 20; ++iteration) {
      double before = 1, value = x;
      for (int k = 2; k <= points; ++k) {
        const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
        before = value;
        value = next;
      }
      slope = points * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    rule.nodes.push_back(x);
    rule.weights.push_back(2 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace warpalign::detail
