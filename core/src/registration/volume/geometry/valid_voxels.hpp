// Counts the unmasked voxels of a volume whose masked voxels are NaN.
#pragma once

#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

namespace warpalign::detail {

/// Measures the statistics of a volume. `record` is device memory for them. Waits for the device.
[[nodiscard]] inline StatisticsRecord measured(Stream& stream, StageClock& clock,
                                               const StatisticsPlan& statistics,
                                               const Image& volume, Buffer& record) {
  clock.run("statistics", [&] { statistics.execute(stream, volume, record); });
  StatisticsRecord found;
  stream.download(record, &found, sizeof found);
  return found;
}

/// The number of finite voxels of a volume.
[[nodiscard]] inline double valid_voxels(const Shape& shape, const StatisticsRecord& record) {
  return static_cast<double>(shape.pixels()) - static_cast<double>(record.nonfinite);
}

}  // namespace warpalign::detail
