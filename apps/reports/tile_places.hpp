// Where the pixels of located tiles lie in a mosaic.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/mosaic.hpp>

#include <algorithm>
#include <array>

namespace warpalign::program {

/// The smallest and the largest coordinates of a tile's pixels in the mosaic.
struct TileBounds {
  Point least;
  Point largest;
};

[[nodiscard]] inline TileBounds bounds_of(const LocatedTile& tile, const Shape& shape) {
  const auto right = static_cast<double>(shape.width - 1);
  const auto bottom = static_cast<double>(shape.height - 1);
  TileBounds bounds{tile.position, tile.position};
  for (const Point& corner : {Point{right, 0}, Point{0, bottom}, Point{right, bottom}}) {
    const Point p = tile.matrix(corner);
    bounds.least = {std::min(bounds.least.x, p.x), std::min(bounds.least.y, p.y)};
    bounds.largest = {std::max(bounds.largest.x, p.x), std::max(bounds.largest.y, p.y)};
  }
  return bounds;
}

/// The corners of a tile in the mosaic, in the order of its outline.
[[nodiscard]] inline std::array<Point, 4> outline_of(const LocatedTile& tile, const Shape& shape) {
  const auto width = static_cast<double>(shape.width);
  const auto height = static_cast<double>(shape.height);
  return {tile.matrix({0, 0}), tile.matrix({width, 0}), tile.matrix({width, height}),
          tile.matrix({0, height})};
}

/// The middle of a tile in the mosaic.
[[nodiscard]] inline Point middle_of(const LocatedTile& tile, const Shape& shape) {
  return tile.matrix({static_cast<double>(shape.width) / 2, static_cast<double>(shape.height) / 2});
}

}  // namespace warpalign::program
