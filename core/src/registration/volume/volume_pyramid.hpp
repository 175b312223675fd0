// A volume at full resolution and at coarser ones, whose voxels are as cubic as halving makes them.
#pragma once

#include "registration/stage_clock.hpp"
#include "registration/volume/volume_grid.hpp"

#include <warpalign/stages/interpolate.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// The grids of both volumes at each level, the finest first.
struct PyramidGrids {
  std::vector<VolumeGrid> reference, moving;

  [[nodiscard]] std::size_t levels() const { return reference.size(); }
};

/// The spacing of a level is twice that of the one before, as nearly as every axis allows; the
/// first axes to be halved are those with the smallest spacing.
[[nodiscard]] PyramidGrids pyramid_grids(const VolumeGrid& reference, const VolumeGrid& moving);

/// The levels of one volume on the device.
class VolumePyramid {
 public:
  /// Whether each level is also smoothed by the cubic B-spline.
  enum class Smoothing { none, cubic };

  VolumePyramid(const Device& device, const std::vector<VolumeGrid>& grids, Smoothing smoothing);

  /// Computes all levels. `values` and, with Smoothing::cubic, `smoothed` are level 0 and must
  /// outlive the use of the pyramid.
  void take(Stream& stream, StageClock& clock, const Image& values, const Image* smoothed);

  [[nodiscard]] const Image& values(std::size_t level) const {
    return level == 0 ? *values_ : levels_[level - 1].values;
  }
  /// Only with Smoothing::cubic.
  [[nodiscard]] const Image& smoothed(std::size_t level) const {
    return level == 0 ? *smoothed_ : levels_[level - 1].smoothed.front();
  }

 private:
  struct Level {
    InterpolatePlan halve;
    Transform transform;
    Image values;
    std::vector<InterpolatePlan> smooth;  // one or none
    std::vector<Image> smoothed;          // likewise
  };
  std::vector<Level> levels_;
  const Image* values_ = nullptr;
  const Image* smoothed_ = nullptr;
};

}  // namespace warpalign::detail
