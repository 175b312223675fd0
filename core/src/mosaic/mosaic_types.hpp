// What mosaics of images and mosaics of volumes share: types by the kind of point, and vectors.
#pragma once

#include "registration/numerics/plane_geometry.hpp"

#include <warpalign/mosaic.hpp>
#include <warpalign/volume_mosaic.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

/// The types of a mosaic whose positions are of type P.
template <class P>
struct MosaicTypes;

template <>
struct MosaicTypes<Point> {
  static constexpr std::size_t axes = 2;
  static constexpr const char* samples = "pixels";
  using Tile = MosaicTile;
  using Pair = MosaicPair;
  using Stage = StageModel;
  using Result = Mosaic;
};

template <>
struct MosaicTypes<Point3> {
  static constexpr std::size_t axes = 3;
  static constexpr const char* samples = "voxels";
  using Tile = VolumeMosaicTile;
  using Pair = VolumeMosaicPair;
  using Stage = VolumeStageModel;
  using Result = VolumeMosaic;
};

template <class P>
inline constexpr std::size_t axes_of = MosaicTypes<P>::axes;

/// The coordinate of a point along an axis: 0 is x, 1 is y, 2 is z.
[[nodiscard]] inline double& along(Point& point, std::size_t axis) {
  return axis == 0 ? point.x : point.y;
}
[[nodiscard]] inline double along(const Point& point, std::size_t axis) {
  return axis == 0 ? point.x : point.y;
}
[[nodiscard]] inline double& along(Point3& point, std::size_t axis) {
  return axis == 0 ? point.x : axis == 1 ? point.y : point.z;
}
[[nodiscard]] inline double along(const Point3& point, std::size_t axis) {
  return axis == 0 ? point.x : axis == 1 ? point.y : point.z;
}

/// The extent along an axis.
[[nodiscard]] inline std::int64_t side_along(const Shape& shape, std::size_t axis) {
  return axis == 0 ? shape.width : axis == 1 ? shape.height : shape.depth;
}
[[nodiscard]] inline std::int64_t& side_along(Shape& shape, std::size_t axis) {
  return axis == 0 ? shape.width : axis == 1 ? shape.height : shape.depth;
}

template <class P>
[[nodiscard]] P difference(const P& to, const P& from) {
  P result;
  for (std::size_t axis = 0; axis < axes_of<P>; ++axis) {
    along(result, axis) = along(to, axis) - along(from, axis);
  }
  return result;
}

template <class P>
[[nodiscard]] P sum_of(const P& a, const P& b) {
  P result;
  for (std::size_t axis = 0; axis < axes_of<P>; ++axis) {
    along(result, axis) = along(a, axis) + along(b, axis);
  }
  return result;
}

[[nodiscard]] inline double length(const Point3& p) { return std::hypot(p.x, p.y, p.z); }

/// The largest magnitude of a coordinate.
template <class P>
[[nodiscard]] double largest_coordinate(const P& point) {
  double largest = 0;
  for (std::size_t axis = 0; axis < axes_of<P>; ++axis) {
    largest = std::max(largest, std::abs(along(point, axis)));
  }
  return largest;
}

template <class P>
[[nodiscard]] bool is_finite(const P& point) {
  for (std::size_t axis = 0; axis < axes_of<P>; ++axis) {
    if (!std::isfinite(along(point, axis))) return false;
  }
  return true;
}

}  // namespace warpalign::detail
