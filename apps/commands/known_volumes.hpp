// Aligns the volumes of a series by transforms that an earlier run has found.
#pragma once

#include "commands/known_drift.hpp"
#include "io/drift_file.hpp"
#include "reports/volume_motion.hpp"

#include <array>
#include <string>
#include <vector>

namespace warpalign::program {

/// What is known of each volume; `name` and `index` of the rows are not set.
struct KnownVolumes {
  std::string motion;
  std::vector<SeriesRow> rows;
};

/// The transforms for volumes of this shape and spacing. Throws UsageError if the volumes have
/// another size than those of the file, or do not lie within them.
[[nodiscard]] KnownVolumes known_volumes(const KnownDriftChoice& choice,
                                         const VolumeDriftFile& drift, const Shape& shape,
                                         const std::array<double, 3>& spacing);

}  // namespace warpalign::program
