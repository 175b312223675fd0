// Converts coordinate fields from NumPy's layout (double precision, axes first to last) to the
// library's (float32, x first).
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::python {

/// Converts `points` points, given as `dimensions` rows of coordinates of which the last is x.
///
/// If the boundary mode repeats the image, coordinates beyond the image are first moved to the
/// first period in double precision, since the rounding error of float32 grows with the distance.
template <typename Number>
void stage_coordinates(const Number* rows, std::size_t points, int dimensions, const Shape& image,
                       Boundary boundary, std::vector<float>& staged);

}  // namespace warpalign::python
