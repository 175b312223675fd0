// Geometric helpers that the steps of a registration of volumes share.
#pragma once

#include <warpalign/geometry.hpp>

#include <algorithm>

namespace warpalign::detail {

/// The number of reference voxels that lie within the moving volume when shifted; it is fractional
/// where the shift is not whole.
inline double common_voxels(const Shape& reference, const Shape& moving, const Point3& shift) {
  const auto along = [](std::int64_t n, std::int64_t m, double s) {
    const double first = std::max(0.0, -s);
    const double end = std::min(static_cast<double>(n), static_cast<double>(m) - s);
    return std::max(end - first, 0.0);
  };
  return along(reference.width, moving.width, shift.x) *
         along(reference.height, moving.height, shift.y) *
         along(reference.depth, moving.depth, shift.z);
}

/// The minimum number of voxels that volumes must have in common of which so many count.
inline double min_common_voxels(double reference, double moving) {
  constexpr double fraction = 0.04;
  return fraction * std::min(reference, moving);
}

}  // namespace warpalign::detail
