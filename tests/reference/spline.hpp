// The oracle of B-spline interpolation: double precision, from the definitions in Champagnat &
// Le Sant (equations 1 to 4, proposition 1) and Ruijters et al. (equation 1). Nothing here
// recurses: coefficients come from solving equation 4 as a system of linear equations.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

/// A dense array, x fastest, then y, then z.
template <class T>
struct VolumeOf {
  std::int64_t width = 0;
  std::int64_t height = 1;
  std::int64_t depth = 1;
  std::vector<T> values;

  VolumeOf() = default;
  explicit VolumeOf(std::int64_t w, std::int64_t h = 1, std::int64_t d = 1)
      : width(w), height(h), depth(d), values(static_cast<std::size_t>(w * h * d)) {}
  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return static_cast<std::size_t>((z * height + y) * width + x);
  }
  T& at(std::int64_t x, std::int64_t y = 0, std::int64_t z = 0) { return values[index(x, y, z)]; }
  const T& at(std::int64_t x, std::int64_t y = 0, std::int64_t z = 0) const {
    return values[index(x, y, z)];
  }
  [[nodiscard]] std::array<std::int64_t, 3> extents() const { return {width, height, depth}; }
};

using Volume = VolumeOf<double>;
using ComplexVolume = VolumeOf<std::complex<double>>;

/// Boundary modes by SciPy's names.
enum class Edge { mirror, reflect, nearest, constant, grid_constant, wrap, grid_wrap };

/// The B-spline of degree 0 to 5. Degree 0 is 1 on [-1/2, 1/2), so that ties go to the larger
/// coordinate, as SciPy has it; the papers' 1/2 on both sides would mix two samples.
double beta(int degree, double x);
/// Its derivative, degree 1 to 5; from the right where it jumps (degree 1).
double beta_slope(int degree, double x);

/// Where the sample (or coefficient) `k` of a line of n is found: an index, or -1 for cval.
std::int64_t extended_index(Edge edge, std::int64_t k, std::int64_t n);

/// Coefficients kept beyond each edge by `solve` for nearest and grid_constant of degree >= 2: by
/// then the slowest pole (0.4306, degree 5) has decayed to 4e-24.
inline constexpr std::int64_t solved_margin = 64;

/// A spline: coefficients with what is needed to evaluate them.
template <class T>
struct SplineOf {
  VolumeOf<T> coefficients;  ///< with `margin` more on both sides of the first `dimensions` axes
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

/// Equation 4 solved along the first `dimensions` axes; what lies along the others is independent.
/// For nearest and grid_constant the endless line of samples is cut off solved_margin beyond its
/// ends; `kept` of the coefficients there become the spline's margin.
template <class T>
SplineOf<T> solve(const VolumeOf<T>& samples, int dimensions, int degree, Edge edge,
                  double cval = 0, std::int64_t kept = solved_margin);
/// Coefficients taken as they are: `margin` of them lie beyond each edge.
template <class T>
SplineOf<T> unfiltered(const VolumeOf<T>& coefficients, int dimensions, int degree, Edge edge,
                       double cval = 0, std::int64_t margin = 0);
/// Proposition 1, truncated and normalised: b(-K) ... b(K), 2K + 1 = taps.
std::vector<double> fir_taps(int taps);
/// Convolution with these taps along the first `dimensions` axes of samples extended by `edge`, for
/// positions -margin to n - 1 + margin.
template <class T>
VolumeOf<T> prefilter_fir(const VolumeOf<T>& samples, int dimensions, int taps, Edge edge,
                          double cval = 0, std::int64_t margin = 0);

template <class T>
struct ValueOf {
  T value{};
  std::array<T, 3> gradient{};
};

/// s(p) and its gradient, p = (x, y, z); axes beyond `dimensions` count for nothing.
template <class T>
ValueOf<T> evaluate(const SplineOf<T>& spline, const std::array<double, 3>& p);

/// Rounded to the nearest integer, halves away from zero, and saturated to [0, largest].
double as_integer(double value, double largest);

/// Bilinear interpolation of complex data (interview text, equations 1 to 4); neighbours outside
/// count as 0, points that are not finite give 0.
std::complex<double> bilinear_zero_outside(const ComplexVolume& image, double x, double y);

}  // namespace reference
