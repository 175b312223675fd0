// Where a transform maps a tile.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <algorithm>
#include <array>

namespace warpalign::detail {

/// The centres of the four pixels at the corners.
[[nodiscard]] inline std::array<Point, 4> corners_of(const Shape& shape) {
  const auto right = static_cast<double>(shape.width - 1);
  const auto bottom = static_cast<double>(shape.height - 1);
  return {Point{0, 0}, {right, 0}, {0, bottom}, {right, bottom}};
}

/// The smallest and the largest coordinates.
struct Bounds {
  Point least;
  Point largest;
};

/// The bounds of a tile's pixels after a transform that maps none of them to infinity.
[[nodiscard]] inline Bounds bounds_of(const Homography& matrix, const Shape& shape) {
  const Point first = matrix({0, 0});
  Bounds bounds{first, first};
  for (const Point& corner : corners_of(shape)) {
    const Point p = matrix(corner);
    bounds.least = {std::min(bounds.least.x, p.x), std::min(bounds.least.y, p.y)};
    bounds.largest = {std::max(bounds.largest.x, p.x), std::max(bounds.largest.y, p.y)};
  }
  return bounds;
}

}  // namespace warpalign::detail
