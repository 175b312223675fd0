// The oracle of the prefilter, from the definitions in Champagnat & Le Sant (equations 1 to 4,
// proposition 1). It uses no recursion: it solves equation 4 as a system of linear equations.
#pragma once

#include "reference/spline/spline.hpp"

#include <vector>

namespace reference {

/// The number of coefficients beyond each edge that `solve` includes for nearest and grid_constant
/// of degree >= 2: over this distance the slowest pole (0.4306, degree 5) decays to 4e-24.
inline constexpr std::int64_t solved_margin = 64;

/// Solves equation 4 along the first `dimensions` axes; the lines along the others are independent.
/// For nearest and grid_constant the infinite line of samples is cut solved_margin beyond its ends;
/// `kept` of the coefficients there become the spline's margin.
/// ends; `kept` of the coefficients there become the spline's margin.
template <class T>
SplineOf<T> solve(const VolumeOf<T>& samples, int dimensions, int degree, Edge edge,
                  double cval = 0, std::int64_t kept = solved_margin);
/// A spline with the given coefficients; `margin` of them lie beyond each edge.
template <class T>
SplineOf<T> unfiltered(const VolumeOf<T>& coefficients, int dimensions, int degree, Edge edge,
                       double cval = 0, std::int64_t margin = 0);
/// Proposition 1, truncated and normalised: b(-K) ... b(K), 2K + 1 = taps.
std::vector<double> fir_taps(int taps);
/// Convolution with these taps along the first `dimensions` axes of samples extended by `edge`, at
/// positions -margin to n - 1 + margin.
template <class T>
VolumeOf<T> prefilter_fir(const VolumeOf<T>& samples, int dimensions, int taps, Edge edge,
                          double cval = 0, std::int64_t margin = 0);

}  // namespace reference
