// Converts coordinate fields from NumPy's layout (double precision, axes first to last) to the
// library's (float32, x first).
#include "coordinates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::python {
namespace {

/// The period of the extended image in samples; 0 if it does not repeat.
double period_of(Boundary boundary, std::int64_t extent) {
  const auto n = static_cast<double>(extent);
  switch (boundary) {
    case Boundary::mirror:
      return 2 * n - 2;
    case Boundary::reflect:
      return 2 * n;
    case Boundary::grid_wrap:
      return n;
    case Boundary::wrap:  // the library handles its seam
    case Boundary::nearest:
    case Boundary::constant:
    case Boundary::grid_constant:
      break;
  }
  return 0;
}

}  // namespace

template <typename Number>
void stage_coordinates(const Number* rows, std::size_t points, int dimensions, const Shape& image,
                       Boundary boundary, std::vector<float>& staged) {
  const auto count = static_cast<std::size_t>(dimensions);
  const std::array<std::int64_t, 3> extents{image.width, image.height, image.depth};
  staged.resize(points * count);
  for (std::size_t axis = 0; axis < count; ++axis) {
    const Number* from = rows + (count - 1 - axis) * points;
    float* to = staged.data() + axis * points;
    const double period = period_of(boundary, extents[axis]);
    const auto last = static_cast<double>(extents[axis] - 1);
    for (std::size_t i = 0; i < points; ++i) {
      auto coordinate = static_cast<double>(from[i]);
      if (period > 0 && (coordinate < 0 || coordinate > last) && std::isfinite(coordinate)) {
        coordinate -= period * std::floor(coordinate / period);
      }
      to[i] = static_cast<float>(coordinate);
    }
  }
}

template void stage_coordinates(const float*, std::size_t, int, const Shape&, Boundary,
                                std::vector<float>&);
template void stage_coordinates(const double*, std::size_t, int, const Shape&, Boundary,
                                std::vector<float>&);

}  // namespace warpalign::python
