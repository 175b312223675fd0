// B-spline coefficients: equation 4 of Champagnat & Le Sant as a linear system, and their FIR
// filter.
#include "reference/spline/prefilter.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace reference {

namespace {

using Matrix = std::vector<double>;  // n x n, row-major

bool keeps_margin(int degree, Edge edge) {
  return degree >= 2 && (edge == Edge::nearest || edge == Edge::grid_constant);
}

// Row l holds the weights of c(0) ... c(n - 1) in s(l). The boundary mode maps coefficients beyond
// the ends to these, or to 0 for cval (see `solve`).
Matrix system(std::int64_t n, int degree, Edge edge) {
  Matrix a(static_cast<std::size_t>(n * n));
  for (std::int64_t l = 0; l < n; ++l) {
    for (std::int64_t k = l - 3; k <= l + 3; ++k) {
      const std::int64_t column = extended_index(edge, k, n);
      if (column >= 0) {
        a[static_cast<std::size_t>(l * n + column)] += beta(degree, static_cast<double>(l - k));
      }
    }
  }
  return a;
}

// Gauss-Jordan elimination without pivoting: the centre weight of every degree exceeds the others
// (degree 5: 0.55 against 0.45).
Matrix inverse(Matrix a, std::int64_t rows) {
  const auto n = static_cast<std::size_t>(rows);
  Matrix b(n * n);
  for (std::size_t i = 0; i < n; ++i) b[i * n + i] = 1;
  for (std::size_t p = 0; p < n; ++p) {
    const double pivot = a[p * n + p];
    for (std::size_t j = 0; j < n; ++j) {
      a[p * n + j] /= pivot;
      b[p * n + j] /= pivot;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = a[i * n + p];
      if (i == p || factor == 0) continue;
      for (std::size_t j = p; j < n; ++j) a[i * n + j] -= factor * a[p * n + j];
      for (std::size_t j = 0; j < n; ++j) b[i * n + j] -= factor * b[p * n + j];
    }
  }
  return b;
}

const Matrix& solution(std::int64_t n, int degree, Edge edge) {
  static std::map<std::tuple<std::int64_t, int, Edge>, Matrix> known;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& matrix = known[{n, degree, edge}];
  if (matrix.empty()) matrix = inverse(system(n, degree, edge), n);
  return matrix;
}

// Calls line(input, output) for every line along an axis whose extent becomes `extent`.
template <class T, class Line>
VolumeOf<T> along(const VolumeOf<T>& from, int axis, std::int64_t extent, Line&& line) {
  auto extents = from.extents();
  const std::int64_t n = std::exchange(extents[static_cast<std::size_t>(axis)], extent);
  VolumeOf<T> to(extents[0], extents[1], extents[2]);
  std::vector<T> input(static_cast<std::size_t>(n));
  std::vector<T> output(static_cast<std::size_t>(extent));
  auto walk = extents;
  walk[static_cast<std::size_t>(axis)] = 1;
  for (std::int64_t z = 0; z < walk[2]; ++z) {
    for (std::int64_t y = 0; y < walk[1]; ++y) {
      for (std::int64_t x = 0; x < walk[0]; ++x) {
        std::array<std::int64_t, 3> p{x, y, z};
        auto& k = p[static_cast<std::size_t>(axis)];
        for (k = 0; k < n; ++k) input[static_cast<std::size_t>(k)] = from.at(p[0], p[1], p[2]);
        line(input, output);
        for (k = 0; k < extent; ++k) to.at(p[0], p[1], p[2]) = output[static_cast<std::size_t>(k)];
      }
    }
  }
  return to;
}

template <class T>
T sample(const std::vector<T>& line, Edge edge, std::int64_t k, double cval) {
  const std::int64_t i = extended_index(edge, k, static_cast<std::int64_t>(line.size()));
  return i < 0 ? T(cval) : line[static_cast<std::size_t>(i)];
}

}  // namespace

template <class T>
SplineOf<T> solve(const VolumeOf<T>& samples, int dimensions, int degree, Edge edge, double cval,
                  std::int64_t kept) {
  SplineOf<T> spline;
  spline.dimensions = dimensions;
  spline.degree = degree;
  spline.edge = edge;
  spline.cval = cval;
  spline.coefficients = samples;
  if (degree < 2) return spline;
  const std::int64_t margin = keeps_margin(degree, edge) ? solved_margin : 0;
  spline.margin = std::min(margin, kept);
  for (int axis = 0; axis < dimensions; ++axis) {
    const std::int64_t n = samples.extents()[static_cast<std::size_t>(axis)];
    const std::int64_t extent = n + 2 * margin;
    const Matrix& matrix = solution(extent, degree, edge);
    std::vector<T> extended(static_cast<std::size_t>(extent));
    // A constant is its own coefficient (B-splines sum to 1): after cval is subtracted, samples far
    // beyond the edges of grid_constant are 0 and drop out of the system.
    const double away = edge == Edge::grid_constant ? cval : 0;
    const auto line = [&](const std::vector<T>& input, std::vector<T>& output) {
      for (std::int64_t k = 0; k < extent; ++k) {
        extended[static_cast<std::size_t>(k)] = sample(input, edge, k - margin, cval) - away;
      }
      const double* row = matrix.data() + (margin - spline.margin) * extent;
      for (T& coefficient : output) {
        T sum{};
        for (const T& value : extended) sum += *row++ * value;
        coefficient = sum + away;
      }
    };
    spline.coefficients = along(spline.coefficients, axis, n + 2 * spline.margin, line);
  }
  return spline;
}

template <class T>
SplineOf<T> unfiltered(const VolumeOf<T>& coefficients, int dimensions, int degree, Edge edge,
                       double cval, std::int64_t margin) {
  SplineOf<T> spline;
  spline.coefficients = coefficients;
  spline.margin = margin;
  spline.dimensions = dimensions;
  spline.degree = degree;
  spline.edge = edge;
  spline.cval = cval;
  return spline;
}

std::vector<double> fir_taps(int taps) {
  const int half = (taps - 1) / 2;
  std::vector<double> b(static_cast<std::size_t>(taps));
  double sum = 0;
  for (int k = -half; k <= half; ++k) {
    const double tap = std::sqrt(3.0) * std::pow(std::sqrt(3.0) - 2, std::abs(k));
    b[static_cast<std::size_t>(k + half)] = tap;
    sum += tap;
  }
  for (double& tap : b) tap /= sum;
  return b;
}

template <class T>
VolumeOf<T> prefilter_fir(const VolumeOf<T>& samples, int dimensions, int taps, Edge edge,
                          double cval, std::int64_t margin) {
  const std::vector<double> b = fir_taps(taps);
  const int half = (taps - 1) / 2;
  VolumeOf<T> result = samples;
  for (int axis = 0; axis < dimensions; ++axis) {
    const std::int64_t extent = samples.extents()[static_cast<std::size_t>(axis)] + 2 * margin;
    result = along(result, axis, extent, [&](const std::vector<T>& input, std::vector<T>& output) {
      for (std::int64_t l = 0; l < extent; ++l) {
        T sum{};
        for (int k = -half; k <= half; ++k) {
          sum += b[static_cast<std::size_t>(k + half)] * sample(input, edge, l - margin - k, cval);
        }
        output[static_cast<std::size_t>(l)] = sum;
      }
    });
  }
  return result;
}

#define WARPALIGN_REFERENCE_SPLINE(T)                                                        \
  template SplineOf<T> solve(const VolumeOf<T>&, int, int, Edge, double, std::int64_t);      \
  template SplineOf<T> unfiltered(const VolumeOf<T>&, int, int, Edge, double, std::int64_t); \
  template VolumeOf<T> prefilter_fir(const VolumeOf<T>&, int, int, Edge, double, std::int64_t)
WARPALIGN_REFERENCE_SPLINE(double);
WARPALIGN_REFERENCE_SPLINE(std::complex<double>);
#undef WARPALIGN_REFERENCE_SPLINE

}  // namespace reference
