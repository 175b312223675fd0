// Gauss-Newton estimation of the shift between two volumes.
#pragma once

#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/volume/volume_sums.hpp>
#include <warpalign/geometry.hpp>

#include <optional>

namespace warpalign::detail {

/// Two volumes to compare: the reference smoothed by the cubic B-spline, and the moving volume
/// without smoothing.
struct VolumePair {
  const VolumeSumsPlan& sums;
  const Image& reference;
  const Image& moving;
  double min_overlap = 1;           ///< in voxels
  double independent_fraction = 1;  ///< see FoundShift
};

/// A shift and the correlation of the volumes at it.
struct ShiftScore {
  Point3 shift;
  double correlation = 0;
  double significance = 0;
};

/// Evaluates a shift. Returns nothing if the overlap is too small. Waits for the device.
std::optional<ShiftScore> evaluate_volumes(Stream& stream, StageClock& clock,
                                           const VolumePair& pair, const Point3& shift);

/// Refines a start that is at most about a voxel away from the solution. Returns nothing if the fit
/// does not converge. Waits for the device.
std::optional<ShiftScore> fit_volumes(Stream& stream, StageClock& clock, const VolumePair& pair,
                                      const Point3& start);

}  // namespace warpalign::detail
