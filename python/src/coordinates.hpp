// Coordinate fields from NumPy: double precision and axes first to last, to the library's float32
// and x first.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::python {

/// Converts `points` points given as `dimensions` rows of coordinates, the last row being x.
///
/// Where the boundary mode repeats the image, coordinates beyond it are first brought into the
/// first period in double precision: single precision would round the more, the further out.
template <typename Number>
void stage_coordinates(const Number* rows, std::size_t points, int dimensions, const Shape& image,
                       Boundary boundary, std::vector<float>& staged);

}  // namespace warpalign::python
