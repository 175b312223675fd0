// The oracle of the prefilter, from the definitions in Champagnat & Le Sant (equations 1 to 4,
// proposition 1). Nothing here recurses: coefficients come from solving equation 4 as a system of
// linear equations.
#pragma once

#include "reference/spline/spline.hpp"

#include <vector>

namespace reference {

/// Coefficients kept beyond each edge by `solve` for nearest and grid_constant of degree >= 2: by
/// then the slowest pole (0.4306, degree 5) has decayed to 4e-24.
inline constexpr std::int64_t solved_margin = 64;

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

}  // namespace reference
