// Whether two volumes match at another shift nearly as well as where they were registered.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/volume_registrar.hpp>

#include <optional>

namespace warpalign::detail {

/// The shifts that a pair of volumes may have.
struct ShiftRange {
  Point3 middle;      ///< reference to moving, in voxels
  double margin = 0;  ///< in voxels along each axis
};

/// The shift of a rival: a maximum of the correlation within the range that reaches 0.9 of what the
/// registered shift does, and beyond a valley of less than 0.75 of it, so that it is another match
/// and no part of the same one. Nothing if there is none, which is usual. Correlations are those of
/// at most some thousand samples, at random places, of volumes reduced by 2 along each axis that is
/// not short: repetitions every 4 voxels or more are found.
[[nodiscard]] std::optional<Point3> rival_shift(const HostVolume& reference,
                                                const HostVolume& moving, const Point3& registered,
                                                const ShiftRange& range);

}  // namespace warpalign::detail
