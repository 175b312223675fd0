// The pyramid of a volume. Each level halves the axes with the smallest spacing first, so that
// voxels become nearly cubic.
#pragma once

#include "registration/resources/stage_clock.hpp"
#include "registration/volume/geometry/volume_grid.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/halve_volume.hpp>
#include <warpalign/backend/stages/volume/smooth_volume.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// The grids of both volumes at each level, finest first.
struct PyramidGrids {
  std::vector<VolumeGrid> reference, moving;

  [[nodiscard]] std::size_t levels() const { return reference.size(); }
};

/// The spacing doubles from level to level, as nearly as each axis allows. The axes with the
/// smallest spacing are halved first.
[[nodiscard]] PyramidGrids pyramid_grids(const VolumeGrid& reference, const VolumeGrid& moving);

/// The levels of one volume on the device.
class VolumePyramid {
 public:
  /// Whether each level is also smoothed by the cubic B-spline.
  enum class Smoothing { none, cubic };

  /// `marked`: masked voxels are NaN. A voxel of a coarser level is masked if more than half of the
  /// voxels that it averages are.
  VolumePyramid(const Device& device, const std::vector<VolumeGrid>& grids, Smoothing smoothing,
                bool marked);

  /// Computes all levels. `values` and, with Smoothing::cubic, `smoothed` become level 0 and must
  /// outlive the pyramid or the next call.
  void take(Stream& stream, StageClock& clock, const Image& values, const Image* smoothed);

  [[nodiscard]] const Image& values(std::size_t level) const {
    return level == 0 ? *values_ : levels_[level - 1].values;
  }
  /// Only with Smoothing::cubic.
  [[nodiscard]] const Image& smoothed(std::size_t level) const {
    return level == 0 ? *smoothed_ : *levels_[level - 1].smoothed;
  }
  /// The number of unmasked voxels of a marked level, after smoothing if the pyramid smooths. Waits
  /// for the device.
  [[nodiscard]] double valid(Stream& stream, StageClock& clock, std::size_t level);

 private:
  struct Level {
    HomogeneousMatrix transform;
    Image values;
    std::optional<Image> smoothed;
    std::optional<InterpolatePlan> halve, smooth;
    std::optional<HalveVolumePlan> halve_marked;
    std::optional<SmoothVolumePlan> smooth_marked;
  };
  static void prepare(const Device& device, const VolumeGrid& fine, Level& level);
  static void prepare_marked(const Device& device, const VolumeGrid& fine, Level& level);
  static void take_level(Stream& stream, StageClock& clock, const Image& finer, Level& level);

  std::vector<Level> levels_;
  std::vector<StatisticsPlan> statistics_;  // one for each level; empty unless marked
  std::optional<Buffer> record_;
  const Image* values_ = nullptr;
  const Image* smoothed_ = nullptr;
};

}  // namespace warpalign::detail
