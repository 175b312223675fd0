// B-splines from their definition, and the samples beyond an edge.
#pragma once

#include <cstdint>

namespace reference {

/// Boundary modes, with SciPy's names.
enum class Edge { mirror, reflect, nearest, constant, grid_constant, wrap, grid_wrap };

/// The B-spline of degree 0 to 5. Degree 0 is 1 on [-1/2, 1/2), so that ties go to the larger
/// coordinate, as in SciPy; the papers' 1/2 on both sides would mix two samples.
double beta(int degree, double x);
/// Its derivative, degree 1 to 5; the right-hand limit at jumps (degree 1).
double beta_slope(int degree, double x);

/// The index of sample (or coefficient) `k` of a line of n, or -1 for cval.
std::int64_t extended_index(Edge edge, std::int64_t k, std::int64_t n);

/// Rounded to the nearest integer, halves away from zero, and saturated to [0, largest].
double as_integer(double value, double largest);

}  // namespace reference
