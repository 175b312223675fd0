// The inverse of a tile's distortion.
#pragma once

#include <warpalign/mosaic.hpp>

namespace warpalign::detail {

/// The pixel p of a tile with p + D(p) = q, where D is the distortion, by that many fixed-point
/// steps from q. Each one reduces the error about a hundred times.
[[nodiscard]] inline Point distorted_pixel(const TileDistortion& distortion, const Point& q,
                                           int steps) {
  Point p = q;
  for (int i = 0; i < steps; ++i) {
    const Point d = distortion.displacement(p);
    p = {q.x - d.x, q.y - d.y};
  }
  return p;
}

}  // namespace warpalign::detail
