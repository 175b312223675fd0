// The weights with which a zoom along one axis sums samples, computed in double precision.
#include "stages/spline/zoom_weights.hpp"

#include "stages/spline/details.hpp"
#include "stages/spline/discrete_filters.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace warpalign::detail {

namespace {

using backend::Extension;

/// Weights below this part of the largest one are 0.
double negligible(const ZoomAxis& axis) { return axis.in_double ? 1e-18 : 1e-9; }

/// Remainder of a division, 0 to n - 1.
std::int64_t modulo(std::int64_t i, std::int64_t n) {
  const std::int64_t rest = i % n;
  return rest < 0 ? rest + n : rest;
}

/// The sample to which index i of an axis of n samples maps; empty for the fill value. Indices of
/// periodic samples stay: the sums are periodic.
std::optional<std::int64_t> extended(Extension extension, std::int64_t i, std::int64_t n) {
  if (extension == Extension::periodic || (i >= 0 && i < n)) return i;
  switch (extension) {
    case Extension::mirror: {
      if (n == 1) return 0;
      const std::int64_t at = modulo(i, 2 * n - 2);
      return at < n ? at : 2 * n - 2 - at;
    }
    case Extension::reflect: {
      const std::int64_t at = modulo(i, 2 * n);
      return at < n ? at : 2 * n - 1 - at;
    }
    case Extension::clamp:
      return i < 0 ? 0 : n - 1;
    default:
      return std::nullopt;
  }
}

/// The weights of samples in one sum.
class Row {
 public:
  void add(std::int64_t sample, double weight) {
    if (weights_.empty()) first_ = sample;
    if (sample < first_) {
      weights_.insert(weights_.begin(), static_cast<std::size_t>(first_ - sample), 0.0);
      first_ = sample;
    }
    const auto at = static_cast<std::size_t>(sample - first_);
    if (at >= weights_.size()) weights_.resize(at + 1);
    weights_[at] += weight;
  }
  void add_fill(double weight) { fill_ += weight; }
  /// Adds `weight` times the filtered sample at `index`, which may be beyond the edges.
  void add_filtered(const SymmetricFilter& filter, Extension extension, std::int64_t index,
                    std::int64_t n, double weight) {
    const int radius = radius_of(filter);
    for (int k = -radius; k <= radius; ++k) {
      const double part = weight * filter[static_cast<std::size_t>(k + radius)];
      const std::optional<std::int64_t> sample = extended(extension, index + k, n);
      if (sample) {
        add(*sample, part);
      } else {
        add_fill(part);
      }
    }
  }

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  [[nodiscard]] double fill() const { return fill_; }

  void drop_ends_below(double part) {
    double largest = 0;
    for (const double weight : weights_) largest = std::max(largest, std::abs(weight));
    const auto counts = [&](double weight) { return std::abs(weight) >= part * largest; };
    const auto begin = std::ranges::find_if(weights_, counts);
    const auto dropped = begin - weights_.begin();
    weights_.erase(weights_.begin(), begin);
    while (!weights_.empty() && !counts(weights_.back())) weights_.pop_back();
    first_ += dropped;
  }

 private:
  std::int64_t first_ = 0;
  std::vector<double> weights_;
  double fill_ = 0;
};

/// Tables of the rows. A row that begins near the end of the axis begins earlier instead, unless
/// samples are periodic.
AxisSums tables_of(const std::vector<Row>& rows, std::int64_t n_input, bool periodic, double cval) {
  const auto n_output = static_cast<std::int64_t>(rows.size());
  AxisSums sums;
  sums.n_input = n_input;
  sums.n_output = n_output;
  std::int64_t taps = 1;
  for (const Row& row : rows) {
    taps = std::max(taps, static_cast<std::int64_t>(row.weights().size()));
  }
  taps = std::min(taps, n_input);
  sums.taps = static_cast<int>(taps);
  std::vector<double> weights;
  sums.weights.resize(static_cast<std::size_t>(taps * n_output));
  for (std::int64_t i = 0; i < n_output; ++i) {
    const Row& row = rows[static_cast<std::size_t>(i)];
    const std::int64_t first = periodic ? (taps == n_input ? 0 : modulo(row.first(), n_input))
                                        : std::clamp<std::int64_t>(row.first(), 0, n_input - taps);
    weights.assign(static_cast<std::size_t>(taps), 0.0);
    for (std::size_t k = 0; k < row.weights().size(); ++k) {
      const std::int64_t sample = row.first() + static_cast<std::int64_t>(k);
      weights[static_cast<std::size_t>(modulo(sample - first, n_input))] += row.weights()[k];
    }
    sums.first.push_back(static_cast<std::int32_t>(first));
    for (std::int64_t k = 0; k < taps; ++k) {
      sums.weights[static_cast<std::size_t>(k * n_output + i)] =
          weights[static_cast<std::size_t>(k)];
    }
    sums.added.push_back(row.fill() * cval);
  }
  return sums;
}

SymmetricFilter prefilter_of(const ZoomAxis& axis) {
  if (!axis.prefilter) return {1.0};
  return inverse_filter(bspline_filter(axis.degree), negligible(axis) / 10);
}

}  // namespace

double ZoomAxis::step() const {
  if (align_edges || n_output == 1) {
    return static_cast<double>(n_input) / static_cast<double>(n_output);
  }
  return static_cast<double>(n_input - 1) / static_cast<double>(n_output - 1);
}

double ZoomAxis::position(std::int64_t output) const {
  if (align_edges) return (static_cast<double>(output) + 0.5) * step() - 0.5;
  if (n_output == 1) return 0;
  return std::min(static_cast<double>(output) * step(), static_cast<double>(n_input - 1));
}

AxisSums gaussian_zoom(const ZoomAxis& axis) {
  const Extension extension = sample_extension(axis.boundary);
  const std::int64_t n = axis.n_input;
  const SymmetricFilter smoothing = gaussian_filter(std::max(0.0, (axis.step() - 1) / 2));
  const SymmetricFilter prefilter = prefilter_of(axis);
  const SymmetricFilter both = convolved(smoothing, prefilter);
  std::vector<Row> rows(static_cast<std::size_t>(axis.n_output));
  for (std::int64_t i = 0; i < axis.n_output; ++i) {
    Row& row = rows[static_cast<std::size_t>(i)];
    const SplineWeights spline = spline_weights(axis.degree, axis.position(i));
    const auto first = static_cast<std::int64_t>(spline.first);
    const bool is_inside = first >= radius_of(both) && first + axis.degree + radius_of(both) < n;
    // Coefficients are filtered samples: those beyond the edges extend the smoothed samples, which
    // is the same as extending the samples unless one value is repeated.
    Row coefficients;
    for (int k = 0; k <= axis.degree; ++k) {
      const double weight = spline.weights[static_cast<std::size_t>(k)];
      if (is_inside) {
        row.add_filtered(both, extension, first + k, n, weight);
      } else {
        coefficients.add_filtered(prefilter, extension, first + k, n, weight);
      }
    }
    row.add_fill(coefficients.fill());
    for (std::size_t k = 0; k < coefficients.weights().size(); ++k) {
      row.add_filtered(smoothing, extension, coefficients.first() + static_cast<std::int64_t>(k), n,
                       coefficients.weights()[k]);
    }
    row.drop_ends_below(negligible(axis));
  }
  return tables_of(rows, n, extension == Extension::periodic, axis.cval);
}

bool is_projectable(const ZoomAxis& axis) {
  const Extension extension = sample_extension(axis.boundary);
  if (axis.align_edges) return extension == Extension::reflect || extension == Extension::periodic;
  return extension == Extension::mirror && axis.n_output > 1;
}

// Unser, Aldroubi and Eden, "Enlargement or reduction of digital images with minimum loss of
// information", IEEE Transactions on Image Processing 4(3), 1995, for any factor (Munoz, Blu and
// Unser, "Least-squares image resizing using finite differences", ibid. 10(9), 2001): the
// coefficients of the result solve the normal equations, whose right-hand side is the inner product
// of the input's spline with each B-spline of the output. The first sums compute these products,
// and the second ones solve the equations and evaluate the result. Products of B-splines are
// polynomials between their knots, which the quadrature integrates exactly.
std::vector<AxisSums> least_squares_zoom(const ZoomAxis& axis) {
  const Extension extension = sample_extension(axis.boundary);
  const int degree = axis.degree;
  const double step = axis.step();
  const double half = (degree + 1) / 2.0;
  const SymmetricFilter prefilter = prefilter_of(axis);
  const Quadrature rule = gauss_legendre(degree + 1);
  const double first_knot = degree % 2 == 0 ? 0.5 : 0.0;  // of the input, modulo 1
  std::vector<Row> products(static_cast<std::size_t>(axis.n_output));
  std::vector<double> knots;
  for (std::int64_t i = 0; i < axis.n_output; ++i) {
    const double centre = axis.position(i);
    knots.clear();
    for (int k = 0; k <= degree + 1; ++k) knots.push_back(centre + step * (k - half));
    for (double knot = std::ceil(knots[0] - first_knot) + first_knot; knot < centre + step * half;
         knot += 1) {
      knots.push_back(knot);
    }
    std::ranges::sort(knots);
    Row coefficients;
    for (std::size_t k = 0; k + 1 < knots.size(); ++k) {
      const double middle = (knots[k] + knots[k + 1]) / 2;
      const double radius = (knots[k + 1] - knots[k]) / 2;
      if (radius < 1e-12) continue;
      for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
        const double x = middle + radius * rule.nodes[node];
        const double weight =
            rule.weights[node] * radius * bspline_value(degree, (x - centre) / step) / step;
        const SplineWeights at = spline_weights(degree, x);
        for (std::size_t c = 0; c < at.weights.size(); ++c) {
          coefficients.add(static_cast<std::int64_t>(at.first) + static_cast<std::int64_t>(c),
                           weight * at.weights[c]);
        }
      }
    }
    Row& row = products[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < coefficients.weights().size(); ++k) {
      row.add_filtered(prefilter, extension, coefficients.first() + static_cast<std::int64_t>(k),
                       axis.n_input, coefficients.weights()[k]);
    }
    row.drop_ends_below(negligible(axis));
  }
  const SymmetricFilter solution =
      convolved(bspline_filter(degree),
                inverse_filter(bspline_filter(2 * degree + 1), negligible(axis) / 10));
  std::vector<Row> results(static_cast<std::size_t>(axis.n_output));
  for (std::int64_t i = 0; i < axis.n_output; ++i) {
    Row& row = results[static_cast<std::size_t>(i)];
    row.add_filtered(solution, extension, i, axis.n_output, 1.0);
    row.drop_ends_below(negligible(axis));
  }
  const bool periodic = extension == Extension::periodic;
  return {tables_of(products, axis.n_input, periodic, 0),
          tables_of(results, axis.n_output, periodic, 0)};
}

}  // namespace warpalign::detail
