// A spline at any point: Ruijters et al., equation 1.
#include "reference/spline/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace reference {

namespace {

// The neighbours along one axis and their weights.
struct Support {
  std::array<std::int64_t, 6> index{};  // in the coefficients' own axis; -1 for cval
  std::array<double, 6> weight{};
  std::array<double, 6> slope{};
  int count = 1;
};

double period(Edge edge, double n) {
  switch (edge) {
    case Edge::mirror:
      return std::max(2 * n - 2, 1.0);
    case Edge::reflect:
      return 2 * n;
    case Edge::grid_wrap:
      return n;
    case Edge::nearest:
    case Edge::constant:
    case Edge::grid_constant:
    case Edge::wrap:
      break;
  }
  return 0;
}

// The point moved near the image without changing the value; nothing if the value is cval.
std::optional<double> near_image(Edge edge, double p, double n) {
  if (std::isnan(p)) return std::nullopt;
  switch (edge) {
    case Edge::constant:
      if (!(p >= 0 && p <= n - 1)) return std::nullopt;
      return p;
    case Edge::grid_constant:
      if (!(std::abs(p) < n + 1000)) return std::nullopt;
      return p;
    case Edge::nearest:
      return std::clamp(p, -1000.0, n + 1000);
    case Edge::wrap:  // [0, n - 1] stays; negative multiples of n - 1 map to n - 1, as in SciPy
      if (std::isinf(p)) return std::nullopt;
      if (n == 1) return 0;
      if (p > n - 1) return std::fmod(p, n - 1);
      return p < 0 ? n - 1 + std::fmod(p, n - 1) : p;
    case Edge::mirror:
    case Edge::reflect:
    case Edge::grid_wrap:
      break;
  }
  if (std::isinf(p)) return std::nullopt;
  return std::abs(p) < 1e6 ? p : std::fmod(p, period(edge, n));  // fmod is exact
}

template <class T>
Support support(const SplineOf<T>& spline, int axis, double p) {
  Support s;
  const int degree = spline.degree;
  s.count = degree + 1;
  // The degree + 1 integers k with beta(p - k) != 0.
  const double first =
      degree % 2 == 0 ? std::floor(p + 0.5) - degree / 2 : std::floor(p) - (degree - 1) / 2;
  const std::int64_t stored = spline.extent(axis) + 2 * spline.margin;
  for (int i = 0; i < s.count; ++i) {
    const auto k = static_cast<std::int64_t>(first) + i;
    const auto at = static_cast<std::size_t>(i);
    s.index[at] = extended_index(spline.edge, k + spline.margin, stored);
    s.weight[at] = beta(degree, p - static_cast<double>(k));
    s.slope[at] = degree == 0 ? 0 : beta_slope(degree, p - static_cast<double>(k));
  }
  return s;
}

}  // namespace

template <class T>
ValueOf<T> evaluate(const SplineOf<T>& spline, const std::array<double, 3>& p) {
  std::array<Support, 3> axes;
  for (auto& axis : axes) axis.weight[0] = 1;
  for (int i = 0; i < spline.dimensions; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto point = near_image(spline.edge, p[at], static_cast<double>(spline.extent(i)));
    if (!point) return {T(spline.cval), {}};
    axes[at] = support(spline, i, *point);
  }
  const auto& [ax, ay, az] = axes;
  ValueOf<T> result;
  for (std::size_t k = 0; k < static_cast<std::size_t>(az.count); ++k) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(ay.count); ++j) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(ax.count); ++i) {
        const bool outside = ax.index[i] < 0 || ay.index[j] < 0 || az.index[k] < 0;
        const T c = outside ? T(spline.cval)
                            : spline.coefficients.at(ax.index[i], ay.index[j], az.index[k]);
        result.value += ax.weight[i] * ay.weight[j] * az.weight[k] * c;
        result.gradient[0] += ax.slope[i] * ay.weight[j] * az.weight[k] * c;
        result.gradient[1] += ax.weight[i] * ay.slope[j] * az.weight[k] * c;
        result.gradient[2] += ax.weight[i] * ay.weight[j] * az.slope[k] * c;
      }
    }
  }
  return result;
}

template ValueOf<double> evaluate(const Spline&, const std::array<double, 3>&);
template ValueOf<std::complex<double>> evaluate(const ComplexSpline&, const std::array<double, 3>&);

}  // namespace reference
