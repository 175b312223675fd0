// Gauss-Newton estimation of rigid, similarity and affine transforms between two volumes.
#pragma once

#include "registration/numerics/robust_scale.hpp"
#include "registration/resources/stage_clock.hpp"
#include "registration/volume/geometry/volume_grid.hpp"

#include <warpalign/backend/stages/volume/affine_volume_sums.hpp>
#include <warpalign/registrar.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A transform from positions in the reference to positions in the moving volume, with its score.
struct VolumeCandidate {
  SpatialTransform transform;
  bool fitted = false;     ///< whether the last fit converged
  double correlation = 0;  ///< over the overlap, as last evaluated
  double voxels = 0;       ///< in the overlap, at the level of the last evaluation
};

/// The volumes at one level: the reference smoothed by the cubic B-spline, and the moving volume
/// without smoothing.
struct LevelImages {
  const Image& reference;
  const Image& moving;
};

/// When a fit stops.
struct FitLimits {
  int evaluations = 20;
  double tolerance = 2e-3;  ///< of the last step at the corners, in voxels of the level
  double max_drift = 6;     ///< of the corners from the start, in voxels of the level
};

/// Plans and scratch memory for fits between two grids. `marked`: masked voxels are NaN, and the
/// fits ignore them. Each step fits all candidates with one kernel launch.
class AffineFit {
 public:
  AffineFit(const Device& device, const VolumeGrid& reference, const VolumeGrid& moving,
            std::size_t max_candidates, bool marked);

  /// Sets the numbers of unmasked voxels of both volumes. The default is all voxels within the
  /// margin. Transforms with too small an overlap are not fitted.
  void set_valid(double reference, double moving);

  /// The width of the border of the reference that fits ignore, in voxels: there the smoothing
  /// extends beyond the volume.
  static constexpr int margin = 2;

  /// Refines the candidates by Gauss-Newton steps (Lucas & Kanade 1981; composed as by Baker &
  /// Matthews 2004) with Tukey's weights. The model includes a gain and an offset between the
  /// volumes. `motion` is translation, rigid, similarity or affine. A candidate whose fit fails
  /// keeps its transform. Waits for the device.
  void fit(Stream& stream, StageClock& clock, const LevelImages& images, Motion motion,
           const FitLimits& limits, std::span<VolumeCandidate> candidates);
  /// Sets the correlation and the overlap of each candidate. Waits for the device.
  void evaluate(Stream& stream, StageClock& clock, const LevelImages& images,
                std::span<VolumeCandidate> candidates);
  [[nodiscard]] const VolumeGrid& reference_grid() const { return reference_; }
  [[nodiscard]] const VolumeGrid& moving_grid() const { return moving_; }

 private:
  static constexpr int last_scale_update = 8;

  /// The state of the fit of one candidate.
  struct Run {
    VolumeCandidate* candidate = nullptr;
    SpatialTransform transform;
    double gain = 1, offset = 0;
    RobustScale scale{last_scale_update};
    bool active = true;
  };
  void execute(Stream& stream, StageClock& clock, const LevelImages& images, std::size_t count);
  [[nodiscard]] bool step(Run& run, const AffineVolumeSums& sums, const FitLimits& limits) const;

  /// The derivative of the transform's rows in scaled coordinates by one parameter, row-major 3
  /// x 4.
  using Derivative = std::array<double, 12>;
  void set_model(Motion motion);

  VolumeGrid reference_, moving_;
  AffineVolumeSumsPlan sums_plan_;
  double min_voxels_ = 0;
  Motion motion_ = Motion::rigid;
  std::vector<Derivative> derivatives_;
  std::vector<AffineVolumeState> states_;
  std::vector<AffineVolumeSums> sums_;
  std::vector<Run> runs_;
};

}  // namespace warpalign::detail
