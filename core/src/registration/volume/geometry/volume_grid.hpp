// Where the voxels of a volume, or of a level of its pyramid, lie in millimetres.
#pragma once

#include "registration/volume/geometry/spatial_transform.hpp"

#include <warpalign/geometry.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

/// Positions are relative to the centre of the whole volume.
struct VolumeGrid {
  Shape shape;
  Vector3 spacing{1, 1, 1};  ///< between voxel centres
  Vector3 centre{};          ///< of this grid

  [[nodiscard]] std::array<std::int64_t, 3> sides() const {
    return {shape.width, shape.height, shape.depth};
  }
  /// The distance between the outermost faces of the voxels.
  [[nodiscard]] double extent(std::size_t axis) const {
    return static_cast<double>(sides()[axis]) * spacing[axis];
  }
  [[nodiscard]] double largest_extent() const {
    return std::max({extent(0), extent(1), extent(2)});
  }
  [[nodiscard]] double middle(std::size_t axis) const {
    return static_cast<double>(sides()[axis] - 1) / 2;
  }
};

/// A transform from voxels of one grid, relative to its centre, to voxel indices of another grid:
/// three rows (a b c d) that act on (u, 1).
using CentredRows = std::array<double, 12>;

/// `transform`: from positions in `from` to positions in `to`.
[[nodiscard]] inline CentredRows centred_rows(const SpatialTransform& transform,
                                              const VolumeGrid& from, const VolumeGrid& to) {
  const Vector3 centre = transform(from.centre);
  CentredRows rows{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      rows[4 * i + j] = transform.linear[3 * i + j] * from.spacing[j] / to.spacing[i];
    }
    rows[4 * i + 3] = (centre[i] - to.centre[i]) / to.spacing[i] + to.middle(i);
  }
  return rows;
}

/// The same transform for voxel indices of `from`, which count from the first voxel.
[[nodiscard]] inline std::array<double, 12> voxel_rows(const SpatialTransform& transform,
                                                       const VolumeGrid& from,
                                                       const VolumeGrid& to) {
  CentredRows rows = centred_rows(transform, from, to);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) rows[4 * i + 3] -= rows[4 * i + j] * from.middle(j);
  }
  return rows;
}

/// Where voxel_rows() map a voxel.
[[nodiscard]] inline Vector3 mapped_voxel(const std::array<double, 12>& rows, const Vector3& v) {
  Vector3 p{};
  for (std::size_t i = 0; i < 3; ++i) {
    p[i] = rows[4 * i] * v[0] + rows[4 * i + 1] * v[1] + rows[4 * i + 2] * v[2] + rows[4 * i + 3];
  }
  return p;
}

/// Calls `use(position)` for each voxel of a volume, x fastest, with where voxel_rows() map it.
template <class Use>
void for_each_mapped_voxel(const std::array<double, 12>& rows, const Shape& shape, Use&& use) {
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        use(mapped_voxel(rows,
                         {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}));
      }
    }
  }
}

/// The inverse of voxel_rows().
[[nodiscard]] inline SpatialTransform spatial_transform_of(const std::array<double, 12>& rows,
                                                           const VolumeGrid& from,
                                                           const VolumeGrid& to) {
  SpatialTransform transform;
  for (std::size_t i = 0; i < 3; ++i) {
    double centre = rows[4 * i + 3] - to.middle(i);  // where the centre of `from` is mapped to
    for (std::size_t j = 0; j < 3; ++j) {
      transform.linear[3 * i + j] = rows[4 * i + j] * to.spacing[i] / from.spacing[j];
      centre += rows[4 * i + j] * from.middle(j);
    }
    transform.shift[i] = centre * to.spacing[i] + to.centre[i];
  }
  const Vector3 moved = product(transform.linear, from.centre);
  for (std::size_t i = 0; i < 3; ++i) transform.shift[i] -= moved[i];
  return transform;
}

/// The largest distance, over the corners of `from`, between where two transforms from `from` to
/// `to` map them; in voxels of `to`.
[[nodiscard]] inline double corner_distance(const SpatialTransform& a, const SpatialTransform& b,
                                            const VolumeGrid& from, const VolumeGrid& to) {
  double largest = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    Vector3 v = from.centre;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      v[axis] += ((corner >> axis & 1U) != 0 ? 0.5 : -0.5) * from.extent(axis);
    }
    const Vector3 p = a(v), q = b(v);
    double square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double along = (p[axis] - q[axis]) / to.spacing[axis];
      square += along * along;
    }
    largest = std::max(largest, std::sqrt(square));
  }
  return largest;
}

}  // namespace warpalign::detail
