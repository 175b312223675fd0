// The two volumes of a registration, the moving one with its axes in the order of the reference's.
#pragma once

#include "io/volume_axes.hpp"
#include "io/volume_file.hpp"

#include <warpalign/homogeneous_matrix.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace warpalign::program {

/// A volume of the pair with its optional mask.
struct VolumeSide {
  VolumeFile file;
  std::optional<Array> mask;
  AxisOrder order;                   ///< of `file.voxels` and the mask relative to the stored ones
  std::int64_t missing = 0;          ///< voxels that --nodata excludes
  HomogeneousMatrix stored_indices;  ///< maps indices of `file.voxels` to those of the stored ones
};

/// Reads a volume as it is stored, and its mask, from which voxels are excluded that are missing:
/// NaN, infinite or `nodata`. Throws FileError and UsageError.
[[nodiscard]] VolumeSide load_side(const std::string& name, const std::optional<std::string>& mask,
                                   std::optional<std::int64_t> volume,
                                   std::optional<double> nodata);

/// Reorders the axes of the moving volume, if both headers give positions and its axes run in other
/// directions.
void reorder_like(const VolumeSide& reference, VolumeSide& moving);

/// Which volumes of the files of --volume to read.
struct VolumeNumbers {
  std::optional<std::int64_t> reference, moving;
};

/// Parses the value of --volume: N for each file that is a series, or N,M for REFERENCE and MOVING.
/// Throws UsageError.
[[nodiscard]] VolumeNumbers volume_numbers_of(const std::optional<std::string>& text,
                                              const std::string& reference,
                                              const std::string& moving);

}  // namespace warpalign::program
