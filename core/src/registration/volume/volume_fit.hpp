// Gauss-Newton on the shift between two volumes.
#pragma once

#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/volume/volume_sums.hpp>
#include <warpalign/geometry.hpp>

#include <optional>

namespace warpalign::detail {

/// Two volumes to be compared: a reference smoothed by the cubic B-spline, and a moving volume as
/// it is.
struct VolumePair {
  const VolumeSumsPlan& sums;
  const Image& reference;
  const Image& moving;
  double min_overlap = 1;       ///< voxels
  double independent_part = 1;  ///< see FoundShift
};

/// How well the volumes agree at a shift.
struct VolumeAgreement {
  Point3 shift;
  double correlation = 0;
  double significance = 0;
};

/// Nothing where the volumes have too little in common. Waits.
std::optional<VolumeAgreement> look_at_volumes(Stream& stream, StageClock& clock,
                                               const VolumePair& pair, const Point3& shift);

/// From a start less than about a voxel away; nothing where it runs away or does not settle. Waits.
std::optional<VolumeAgreement> fit_volumes(Stream& stream, StageClock& clock,
                                           const VolumePair& pair, const Point3& start);

}  // namespace warpalign::detail
