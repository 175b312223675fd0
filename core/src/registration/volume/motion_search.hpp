// Registration of rotated volumes: a search over orientations at low resolution, then Gauss-Newton
// fits from coarse to fine.
#pragma once

#include "registration/resources/stage_clock.hpp"
#include "registration/volume/fitting/affine_fit.hpp"
#include "registration/volume/initial_transform.hpp"
#include "registration/volume/pyramid/volume_pyramid.hpp"
#include "registration/volume/pyramid/volume_source.hpp"
#include "registration/volume/search/orientation_search.hpp"
#include "registration/volume/search/volume_scorer.hpp"

#include <warpalign/volume_registrar.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// The matrix, translation, rotation and scale of a transform from the grid of the reference to
/// that of the moving volume.
[[nodiscard]] VolumeRegistration described(const SpatialTransform& transform,
                                           const VolumeGrid& reference, const VolumeGrid& moving);

/// Plans and memory for a pair of shapes, and the reference's levels.
class MotionSearch {
 public:
  /// `marked`: masked voxels are NaN. `modalities`: how many modalities the caller tries before it
  /// takes the best result; the null test corrects for them.
  MotionSearch(const Device& device, const VolumeRegistrationOptions& options,
               const Shape& reference, const Shape& moving, bool marked, std::size_t modalities);

  [[nodiscard]] bool matches(const Shape& reference, const Shape& moving, bool marked) const {
    return reference == grids_.reference.front().shape && moving == grids_.moving.front().shape &&
           marked == marked_;
  }

  /// The candidates that the coarsest level of the last run() kept.
  [[nodiscard]] const std::vector<SpatialTransform>& coarse_transforms() const { return coarse_; }
  /// Evaluates a transform that was fitted otherwise. Uses the volumes of the last run() or
  /// run_from(). Returns nothing if the options exclude it. Waits for the device.
  [[nodiscard]] std::optional<VolumeRegistration> evaluate_transform(
      Stream& stream, StageClock& clock, const SpatialTransform& transform);

  /// `reference` must outlive the search.
  void set_reference(Stream& stream, StageClock& clock, const VolumeSource& reference);
  /// Waits for the device.
  [[nodiscard]] VolumeRegistration run(Stream& stream, StageClock& clock,
                                       const VolumeSource& moving);
  /// Fits the transform `initial` instead of searching. The result is not reliable if the fit leads
  /// nowhere. Waits for the device.
  [[nodiscard]] VolumeRegistration run_from(Stream& stream, StageClock& clock,
                                            const VolumeSource& moving, const VoxelRows& initial);

 private:
  [[nodiscard]] LevelImages images(std::size_t level) const;
  void update_valid_counts(Stream& stream, StageClock& clock);
  [[nodiscard]] VolumeRegistration evaluate_result(Stream& stream, StageClock& clock,
                                                   VolumeCandidate candidate);
  [[nodiscard]] bool judges_structure() const;
  [[nodiscard]] double structure_confidence(Stream& stream, StageClock& clock,
                                            const SpatialTransform& transform);
  void rank(Stream& stream, StageClock& clock, std::size_t level);
  void keep(std::size_t level, std::size_t count);
  void take(Stream& stream, StageClock& clock, const VolumeSource& moving);
  void fit_levels(Stream& stream, StageClock& clock, std::size_t coarsest);
  [[nodiscard]] VolumeRegistration best_of_candidates(Stream& stream, StageClock& clock);
  [[nodiscard]] VolumeRegistration describe(const VolumeCandidate& candidate) const;
  [[nodiscard]] bool is_allowed(const VolumeRegistration& result) const;

  VolumeRegistrationOptions options_;
  bool marked_;
  std::size_t modalities_;
  PyramidGrids grids_;
  std::size_t search_level_, judge_level_;
  VolumePyramid reference_, moving_;
  OrientationSearch search_;
  std::vector<AffineFit> fits_;  // one for each level
  VolumeScorer judge_;
  std::vector<VolumeCandidate> candidates_;
  std::vector<SpatialTransform> coarse_;
  std::vector<double> reference_valid_;  // unmasked voxels of each level; empty unless marked_
};

}  // namespace warpalign::detail
