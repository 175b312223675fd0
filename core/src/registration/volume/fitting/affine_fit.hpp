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

/// A transform from positions in the reference to positions in the moving volume, and what is known
/// about it.
struct VolumeCandidate {
  SpatialTransform transform;
  bool fitted = false;     ///< whether the last fit converged
  double correlation = 0;  ///< as last evaluated, over the voxels in common
  double voxels = 0;       ///< in common, of the level at which it was evaluated
};

/// The volumes at one level: a reference that was smoothed by the cubic B-spline, and a moving
/// volume that was not.
struct LevelImages {
  const Image& reference;
  const Image& moving;
};

/// How far a fit may go.
struct FitLimits {
  int evaluations = 20;
  double tolerance = 2e-3;  ///< of the last step at the corners, in voxels of the level
  double max_drift = 6;     ///< of the corners from the start, likewise
};

/// Plans and scratch memory for fits between two grids, of marked volumes without voxels that do
/// not count. Candidates are fitted at the same time, so that a step takes one launch for all of
/// them.
class AffineFit {
 public:
  AffineFit(const Device& device, const VolumeGrid& reference, const VolumeGrid& moving,
            std::size_t max_candidates, bool marked);

  /// How many voxels of the reference and of the moving volume count; unless it is said, all but
  /// the margin's. Transforms that leave too few in common are not fitted.
  void set_valid(double reference, double moving);

  /// Voxels at the reference's faces that do not count: there its smoothing extends beyond it.
  static constexpr int margin = 2;

  /// Refines the candidates by Gauss-Newton steps (Lucas & Kanade 1981; composed as by Baker &
  /// Matthews 2004) with Tukey's weights, and a gain and an offset between the volumes. `motion` is
  /// translation, rigid, similarity or affine. A candidate whose fit fails keeps its transform.
  /// Waits for the device.
  void fit(Stream& stream, StageClock& clock, const LevelImages& images, Motion motion,
           const FitLimits& limits, std::span<VolumeCandidate> candidates);
  /// Evaluates the candidates. Waits for the device.
  void evaluate(Stream& stream, StageClock& clock, const LevelImages& images,
                std::span<VolumeCandidate> candidates);
  /// How far apart two transforms move the reference's corners, in voxels of the moving volume.
  [[nodiscard]] double corner_distance(const SpatialTransform& a, const SpatialTransform& b) const;

 private:
  static constexpr int last_scale_update = 8;

  /// A fit under way.
  struct Run {
    VolumeCandidate* candidate = nullptr;
    SpatialTransform transform;
    double gain = 1, offset = 0;
    RobustScale scale{last_scale_update};
    bool active = true;
  };
  void execute(Stream& stream, StageClock& clock, const LevelImages& images, std::size_t count);
  [[nodiscard]] bool step(Run& run, const AffineVolumeSums& sums, const FitLimits& limits) const;

  /// What one parameter changes: the transform's rows in scaled coordinates, row-major 3 x 4.
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
