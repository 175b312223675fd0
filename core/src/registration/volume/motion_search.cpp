// Registration of rotated volumes: a search over orientations at low resolution, then Gauss-Newton
// fits from coarse to fine.
#include "registration/volume/motion_search.hpp"

#include "registration/numerics/confidence.hpp"
#include "registration/volume/search/structure_check.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

constexpr double radian = 180 / std::numbers::pi;

// How many of the best candidates are kept after each of the coarsest levels.
constexpr std::size_t after_coarsest = 6;
constexpr std::size_t after_second = 2;
constexpr double distinct = 1;  // voxels at the corners; closer candidates are duplicates
// Without refinement, fits skip levels with larger sides.
constexpr std::int64_t max_unrefined_side = 64;
constexpr std::int64_t max_judged_side = 128;
// max_rotation bounds the search. Noise may move the fitted rotation slightly beyond it.
constexpr double rotation_slack = 1;  // degrees

// Outlines alone reached a significance of 19.
constexpr double beyond_outlines = 30;

constexpr FitLimits coarsest_fit{25, 0.01, 8};
constexpr FitLimits coarse_fit{15, 0.005, 6};
constexpr FitLimits finest_fit{20, 0.002, 4};

VolumeGrid grid_of(const Shape& shape, const Point3& spacing) {
  return {shape, {spacing.x, spacing.y, spacing.z}, {}};
}

std::int64_t largest_side(const VolumeGrid& grid) {
  return std::max({grid.shape.width, grid.shape.height, grid.shape.depth});
}

// The coarsest level at which the voxels are no larger than those of the search frame.
std::size_t search_level_of(const PyramidGrids& grids) {
  const double spacing = OrientationSearch::spacing_for(grids.reference[0], grids.moving[0]);
  std::size_t level = 0;
  const auto fine = [&](const VolumeGrid& grid) {
    return std::max({grid.spacing[0], grid.spacing[1], grid.spacing[2]}) <= spacing;
  };
  while (level + 1 < grids.levels() && fine(grids.reference[level + 1]) &&
         fine(grids.moving[level + 1])) {
    ++level;
  }
  return level;
}

std::size_t judge_level_of(const PyramidGrids& grids) {
  std::size_t level = 0;
  while (level + 1 < grids.levels() &&
         std::max(largest_side(grids.reference[level]), largest_side(grids.moving[level])) >
             max_judged_side) {
    ++level;
  }
  return level;
}

// The maximum number of candidates at a level. The plan of the level allocates memory for as many.
std::size_t candidates_at(std::size_t level, std::size_t levels) {
  if (level + 1 == levels) return OrientationSearch::max_candidates;
  if (level + 2 == levels) return after_coarsest;
  return level + 3 == levels ? after_second : 1;
}

double max_rotation_of(const VolumeRegistrationOptions& options) {
  return options.motion == Motion::translation ? 0 : options.max_rotation / radian;
}

// The nearest transform of a motion, which maps the reference's centre to the same point.
SpatialTransform restricted_to(Motion motion, SpatialTransform transform) {
  if (motion == Motion::affine) return transform;
  const double scale = motion == Motion::similarity ? std::cbrt(determinant(transform.linear)) : 1;
  transform.linear =
      motion == Motion::translation ? identity3() : nearest_rotation(transform.linear);
  for (double& value : transform.linear) value *= scale;
  return transform;
}

double score_of(const VolumeCandidate& candidate) {
  return significance_of(candidate.correlation, candidate.voxels);
}

}  // namespace

MotionSearch::MotionSearch(const Device& device, const VolumeRegistrationOptions& options,
                           const Shape& reference, const Shape& moving, bool marked,
                           std::size_t modalities)
    : options_(options),
      marked_(marked),
      modalities_(modalities),
      grids_(pyramid_grids(grid_of(reference, options.reference_spacing),
                           grid_of(moving, options.moving_spacing))),
      search_level_(search_level_of(grids_)),
      judge_level_(judge_level_of(grids_)),
      reference_(device, grids_.reference, VolumePyramid::Smoothing::cubic, marked),
      moving_(device, grids_.moving, VolumePyramid::Smoothing::none, marked),
      search_(device, grids_.reference[search_level_], grids_.moving[search_level_],
              max_rotation_of(options), marked),
      judge_(device, grids_.reference[judge_level_], grids_.moving[judge_level_], marked) {
  for (std::size_t level = 0; level < grids_.levels(); ++level) {
    fits_.emplace_back(device, grids_.reference[level], grids_.moving[level],
                       candidates_at(level, grids_.levels()), marked);
  }
  candidates_.reserve(OrientationSearch::max_candidates);
  reference_valid_.reserve(grids_.levels());
}

LevelImages MotionSearch::images(std::size_t level) const {
  return {reference_.smoothed(level), moving_.values(level)};
}

void MotionSearch::set_reference(Stream& stream, StageClock& clock, const VolumeSource& reference) {
  reference_.take(stream, clock, reference.values(), &reference.smoothed());
  search_.set_reference(stream, clock, reference_.values(search_level_));
  if (!marked_) return;
  reference_valid_.clear();
  for (std::size_t level = 0; level < grids_.levels(); ++level) {
    reference_valid_.push_back(reference_.valid(stream, clock, level));
  }
}

void MotionSearch::update_valid_counts(Stream& stream, StageClock& clock) {
  for (std::size_t level = 0; level < grids_.levels(); ++level) {
    fits_[level].set_valid(reference_valid_[level], moving_.valid(stream, clock, level));
  }
}

void MotionSearch::rank(Stream& stream, StageClock& clock, std::size_t level) {
  fits_[level].evaluate(stream, clock, images(level), candidates_);
  std::sort(
      candidates_.begin(), candidates_.end(),
      [](const VolumeCandidate& a, const VolumeCandidate& b) { return score_of(a) > score_of(b); });
}

// Keeps the best candidates that differ from one another.
void MotionSearch::keep(std::size_t level, std::size_t count) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < candidates_.size() && kept < count; ++i) {
    const bool duplicate =
        std::any_of(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept),
                    [&](const VolumeCandidate& other) {
                      return corner_distance(candidates_[i].transform, other.transform,
                                             fits_[level].reference_grid(),
                                             fits_[level].moving_grid()) < distinct;
                    });
    if (!duplicate) candidates_[kept++] = candidates_[i];
  }
  candidates_.resize(kept);
}

// `coarsest`: the level to begin with.
void MotionSearch::fit_levels(Stream& stream, StageClock& clock, std::size_t coarsest) {
  const Motion first = options_.motion == Motion::translation ? Motion::translation : Motion::rigid;
  fits_[coarsest].fit(stream, clock, images(coarsest), first, coarsest_fit, candidates_);
  rank(stream, clock, coarsest);
  keep(coarsest, after_coarsest);
  coarse_.clear();
  for (const VolumeCandidate& candidate : candidates_) coarse_.push_back(candidate.transform);
  for (std::size_t level = coarsest + 1; level-- > 0;) {
    const std::int64_t side =
        std::max(largest_side(grids_.reference[level]), largest_side(grids_.moving[level]));
    if (!options_.refine && side > max_unrefined_side && level < coarsest) return;
    if (level == coarsest && level > 0 && options_.motion == first) continue;
    fits_[level].fit(stream, clock, images(level), options_.motion,
                     level == 0 ? finest_fit : coarse_fit, candidates_);
    rank(stream, clock, level);
    if (level > 0) keep(level, candidates_at(level - 1, grids_.levels()));
  }
}

VolumeRegistration described(const SpatialTransform& transform, const VolumeGrid& reference,
                             const VolumeGrid& moving) {
  VolumeRegistration result;
  const std::array<double, 12> rows = voxel_rows(transform, reference, moving);
  result.matrix = HomogeneousMatrix::affine3(rows);
  const Vector3 centre{reference.middle(0), reference.middle(1), reference.middle(2)};
  Vector3 moved{};
  for (std::size_t i = 0; i < 3; ++i) {
    moved[i] = rows[4 * i + 3] - centre[i];
    for (std::size_t j = 0; j < 3; ++j) moved[i] += rows[4 * i + j] * centre[j];
  }
  result.translation = {moved[0], moved[1], moved[2]};
  result.scale = std::cbrt(determinant(transform.linear));
  const Vector3 rotation = rotation_vector(nearest_rotation(transform.linear));
  const double angle = std::hypot(rotation[0], rotation[1], rotation[2]);
  result.rotation_deg = angle * radian;
  if (angle > 0) {
    result.rotation_axis = {rotation[0] / angle, rotation[1] / angle, rotation[2] / angle};
  }
  return result;
}

VolumeRegistration MotionSearch::describe(const VolumeCandidate& candidate) const {
  VolumeRegistration result = described(candidate.transform, grids_.reference[0], grids_.moving[0]);
  result.motion = options_.motion;
  result.refined = candidate.fitted && options_.refine;
  result.correlation = candidate.correlation;
  return result;
}

bool MotionSearch::is_allowed(const VolumeRegistration& result) const {
  const auto within = [](double shift, double limit) {
    return limit <= 0 || std::abs(shift) <= limit + 0.5;
  };
  return within(result.translation.x, options_.max_shift.x) &&
         within(result.translation.y, options_.max_shift.y) &&
         within(result.translation.z, options_.max_shift.z) &&
         (options_.motion == Motion::translation ||
          result.rotation_deg <= options_.max_rotation + rotation_slack);
}

VolumeRegistration MotionSearch::run(Stream& stream, StageClock& clock,
                                     const VolumeSource& moving) {
  take(stream, clock, moving);
  const auto proposed = search_.find(stream, clock, moving_.values(search_level_));
  candidates_.assign(proposed.begin(), proposed.end());
  fit_levels(stream, clock, grids_.levels() - 1);
  return best_of_candidates(stream, clock);
}

// A fit from a finer level stays near its start; one from the coarsest level comes from farther.
VolumeRegistration MotionSearch::run_from(Stream& stream, StageClock& clock,
                                          const VolumeSource& moving, const VoxelRows& initial) {
  take(stream, clock, moving);
  VolumeCandidate start;
  start.transform = restricted_to(
      options_.motion, spatial_transform_of(initial, grids_.reference[0], grids_.moving[0]));
  const std::size_t coarsest = grids_.levels() - 1;
  std::size_t fine = 0;
  while (fine < coarsest && std::max(largest_side(grids_.reference[fine]),
                                     largest_side(grids_.moving[fine])) > max_unrefined_side) {
    ++fine;
  }
  VolumeRegistration result;
  for (const std::size_t level : {fine, coarsest}) {
    candidates_.assign(1, start);
    fit_levels(stream, clock, level);
    result = best_of_candidates(stream, clock);
    if (result.reliable || level == coarsest) break;
  }
  return result;
}

void MotionSearch::take(Stream& stream, StageClock& clock, const VolumeSource& moving) {
  moving_.take(stream, clock, moving.values(), nullptr);
  if (marked_) update_valid_counts(stream, clock);
}

VolumeRegistration MotionSearch::best_of_candidates(Stream& stream, StageClock& clock) {
  const auto best = std::find_if(
      candidates_.begin(), candidates_.end(),
      [&](const VolumeCandidate& candidate) { return is_allowed(describe(candidate)); });
  if (best == candidates_.end()) {
    VolumeRegistration none;
    none.motion = options_.motion;
    return none;
  }
  return evaluate_result(stream, clock, *best);
}

std::optional<VolumeRegistration> MotionSearch::evaluate_transform(
    Stream& stream, StageClock& clock, const SpatialTransform& transform) {
  VolumeCandidate candidate;
  candidate.transform = transform;
  candidate.fitted = true;
  if (!is_allowed(describe(candidate))) return std::nullopt;
  return evaluate_result(stream, clock, candidate);
}

VolumeRegistration MotionSearch::evaluate_result(Stream& stream, StageClock& clock,
                                                 VolumeCandidate candidate) {
  const bool fitted = candidate.fitted;
  const LevelImages compared = images(judge_level_);
  fits_[judge_level_].evaluate(stream, clock, compared, std::span(&candidate, 1));
  candidate.fitted = fitted;
  VolumeRegistration result = describe(candidate);
  result.significance = judge_.significance(stream, clock, compared, candidate);
  result.overlap =
      marked_ ? judge_.marked_overlap(
                    stream, clock, {reference_.values(judge_level_), moving_.values(judge_level_)},
                    candidate)
              : judge_.overlap(candidate);
  result.confidence =
      confidence_of(result.significance,
                    half_significance_of(options_.modality, modalities_ * search_.hypotheses()));
  if (!fitted) result.confidence = std::min(result.confidence, max_unrefined_confidence);
  result.reliable = result.confidence >= 0.5;
  if (!result.reliable || !judges_structure()) return result;
  if (result.significance >= beyond_outlines) return result;
  result.confidence =
      std::min(result.confidence, structure_confidence(stream, clock, candidate.transform));
  result.reliable = result.confidence >= 0.5;
  return result;
}

// Edge strengths have no outlines. Translations leave less freedom to fit an outline.
bool MotionSearch::judges_structure() const {
  return options_.modality == Modality::same && options_.motion != Motion::translation;
}

double MotionSearch::structure_confidence(Stream& stream, StageClock& clock,
                                          const SpatialTransform& transform) {
  const std::size_t level = grids_.levels() - 1;
  const auto downloaded = [&](const Image& image) {
    LevelValues values{std::vector<float>(static_cast<std::size_t>(image.shape().pixels())),
                       image.shape()};
    clock.run("download", [&] {
      stream.download(image, values.values.data(), values.values.size() * sizeof(float));
    });
    return values;
  };
  const LevelValues reference = downloaded(reference_.values(level));
  const LevelValues moving = downloaded(moving_.values(level));
  return confidence_within_outlines(
      reference, moving, voxel_rows(transform, grids_.reference[level], grids_.moving[level]));
}

}  // namespace warpalign::detail
