// Geometry that the steps of volume registration share.
#pragma once

#include <warpalign/geometry.hpp>

#include <algorithm>

namespace warpalign::detail {

/// The number of reference voxels within the shifted moving volume; fractional if the shift is.
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

/// The minimum overlap, in voxels, of volumes with `reference` and `moving` unmasked voxels.
inline double min_common_voxels(double reference, double moving) {
  constexpr double fraction = 0.04;
  return fraction * std::min(reference, moving);
}

}  // namespace warpalign::detail
