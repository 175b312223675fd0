// Registers volumes for one modality: searches, refines and scores the result.
#include "registration/volume/volume_pipeline.hpp"

#include "registration/numerics/confidence.hpp"
#include "registration/volume/fitting/volume_fit.hpp"
#include "registration/volume/geometry/volume_geometry.hpp"
#include "registration/volume/structure/structure_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace warpalign::detail {

namespace {

// Whether a translation can be measured in voxels. Then the spacing does not matter, and a
// dedicated search runs at full resolution.
bool is_voxel_translation(const VolumeRegistrationOptions& options) {
  const Point3& r = options.reference_spacing;
  const Point3& m = options.moving_spacing;
  return options.motion == Motion::translation && r.x == m.x && r.y == m.y && r.z == m.z;
}

bool exceeds(const Point3& shift, const Point3& limit) {
  const auto outside = [](double s, double l) { return l > 0 && std::abs(s) > l + 0.5; };
  return outside(shift.x, limit.x) || outside(shift.y, limit.y) || outside(shift.z, limit.z);
}

VolumeGrid grid_of_source(const VolumeSource& source, const Point3& spacing) {
  return {source.shape(), {spacing.x, spacing.y, spacing.z}, {}};
}

}  // namespace

VolumePipeline::VolumePipeline(const Device& device, const VolumeRegistrationOptions& options,
                               std::size_t modalities)
    : device_(device), options_(options), modalities_(modalities) {}

void VolumePipeline::prepare(std::optional<VolumeSource>& source, PixelType type,
                             const Shape& shape, const Point3& spacing, bool masked) const {
  if (source && source->matches(type, shape, masked)) return;
  source.reset();  // release the old memory before allocating the new
  source.emplace(device_, type, shape, options_.modality, spacing, masked, compares_structure());
}

void VolumePipeline::release_searches() {
  search_.reset();
  motion_search_.reset();
}

void VolumePipeline::prepare_search(Stream& stream, StageClock& clock) {
  if (!search_ || !search_->matches(reference_->shape(), moving_->shape(), marked())) {
    search_.reset();
    search_has_reference_ = false;
    search_.emplace(device_, reference_->shape(), moving_->shape(), marked());
  }
  if (!search_has_reference_) search_->set_reference(stream, clock, reference_->smoothed());
  search_has_reference_ = true;
}

void VolumePipeline::prepare_motion_search(Stream& stream, StageClock& clock) {
  if (!motion_search_ ||
      !motion_search_->matches(reference_->shape(), moving_->shape(), marked())) {
    motion_search_.reset();
    motion_search_has_reference_ = false;
    motion_search_.emplace(device_, options_, reference_->shape(), moving_->shape(), marked(),
                           modalities_);
  }
  if (!motion_search_has_reference_) motion_search_->set_reference(stream, clock, *reference_);
  motion_search_has_reference_ = true;
}

VolumeRegistration VolumePipeline::register_pair(Stream& stream, StageClock& clock) {
  VolumeRegistration result;
  if (initial_) {
    prepare_motion_search(stream, clock);
    result = motion_search_->run_from(stream, clock, *moving_, *initial_);
    const VolumeGrid from = grid_of_source(*reference_, options_.reference_spacing);
    const VolumeGrid to = grid_of_source(*moving_, options_.moving_spacing);
    const std::array<SpatialTransform, 1> start{spatial_transform_of(*initial_, from, to)};
    result = judged_by_structure(stream, clock, result, start, false);
  }
  if (!result.reliable) result = search_pair(stream, clock);
  result.modality = options_.modality;
  return result;
}

VolumeRegistration VolumePipeline::search_pair(Stream& stream, StageClock& clock) {
  VolumeRegistration result;
  if (is_voxel_translation(options_)) {
    prepare_search(stream, clock);
    result = search_translation(stream, clock);
    const Point3& t = result.translation;
    result.matrix = HomogeneousMatrix::affine3({1, 0, 0, t.x, 0, 1, 0, t.y, 0, 0, 1, t.z});
  } else {
    prepare_motion_search(stream, clock);
    result = motion_search_->run(stream, clock, *moving_);
    result = judged_by_structure(stream, clock, result, motion_search_->coarse_transforms(), true);
  }
  return result;
}

VolumeRegistration VolumePipeline::judged_by_structure(Stream& stream, StageClock& clock,
                                                       const VolumeRegistration& result,
                                                       std::span<const SpatialTransform> starts,
                                                       bool from_centroids) {
  if (result.reliable || !compares_structure()) return result;
  StructureSearchOptions search;
  search.motion = options_.motion;
  search.max_rotation = options_.max_rotation * std::numbers::pi / 180;
  search.same_contrast = options_.modality == Modality::same;
  search.from_centroids = from_centroids;
  const auto match = find_structure(reference_->overview(stream, clock),
                                    moving_->overview(stream, clock), starts, search);
  if (!match || match->confidence <= result.confidence) return result;
  auto judged = motion_search_->evaluate_transform(stream, clock, match->transform);
  if (!judged) return result;
  judged->confidence = std::max(judged->confidence, match->confidence);
  judged->reliable = judged->confidence >= 0.5;
  return *judged;
}

// If there are masks, returns the overlap at the nearest shift by whole voxels.
double VolumePipeline::overlap_at(Stream& stream, StageClock& clock, const Point3& shift) {
  if (!marked()) {
    return common_voxels(reference_->shape(), moving_->shape(), shift) /
           static_cast<double>(reference_->shape().pixels());
  }
  const std::array<VoxelShift, 1> nearest{
      {{std::llround(shift.x), std::llround(shift.y), std::llround(shift.z)}}};
  std::span<const VolumeMoments> moments;
  clock.run("volume_moments", [&] {
    moments = search_->sums().moments(stream, reference_->values(), moving_->values(), nearest);
  });
  return moments.front().voxels / reference_->valid();
}

VolumeRegistration VolumePipeline::search_translation(Stream& stream, StageClock& clock) {
  VolumeRegistration result;
  const double min_overlap =
      min_common_voxels(reference_->valid_smoothed(), moving_->valid_smoothed());
  const auto whole = search_->find(stream, clock, reference_->smoothed(), moving_->smoothed(),
                                   {options_.max_shift, min_overlap});
  if (!whole) return result;
  const Point3 start = point_of(whole->shift);
  const VolumePair pair{search_->sums(), reference_->smoothed(), moving_->values(), min_overlap,
                        whole->independent_fraction};
  std::optional<ShiftScore> found;
  if (options_.refine) found = fit_volumes(stream, clock, pair, start);
  if (found && exceeds(found->shift, options_.max_shift)) found.reset();
  result.refined = found.has_value();
  if (!found) found = evaluate_volumes(stream, clock, pair, start);
  result.translation = start;
  if (!found) return result;
  result.translation = found->shift;
  result.correlation = found->correlation;
  result.significance = found->significance;
  result.overlap = overlap_at(stream, clock, found->shift);
  result.confidence =
      volume_confidence(found->significance, half_significance_of(options_.modality, modalities_));
  // A shift that cannot be refined is probably wrong.
  if (options_.refine && !result.refined) {
    result.confidence = std::min(result.confidence, max_unrefined_confidence);
  }
  result.reliable = result.confidence >= 0.5;
  return result;
}

}  // namespace warpalign::detail
