// Coarse fits of affine transforms and homographies, from similarities or from homographies that
// patches have proposed.
#include "registration/refinement/projective_fits.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/registration_result.hpp"
#include "registration/refinement/view_of_plane.hpp"

#include <algorithm>
#include <cstddef>

namespace warpalign::detail {

namespace {

// A fit that is less significant than this fraction of the similarity has gone astray.
constexpr double min_gain = 0.95;

// Fits from finer levels are skipped for candidates below either limit after their first fit: this
// fraction of the best candidate's significance and, for intensities, this significance. The limits
// apply to the more significant of the first fit and the similarity. Over 44 photograph pairs that
// a homography explains, the final best candidate had at least 0.86 of the best significance, and
// at least 34, after its first fit.
constexpr double min_restart_fraction = 0.6;
constexpr double min_restart_significance = 20;

// Up to this number of candidates, fits from all levels run at once. Of more candidates, most can
// be dropped after their first fit.
constexpr std::size_t max_with_all_levels = 3;

}  // namespace

double ProjectiveFits::Target::best_significance() const {
  return std::max(start_significance, best ? best->significance : 0.0);
}

// The minimum significance of candidates for fits from finer levels.
double ProjectiveFits::restart_threshold(const PairContext& work) const {
  double most = 0;
  for (const Target& target : targets_) most = std::max(most, target.best_significance());
  const double least = !work.compares_orientation() ? min_restart_significance : 0;
  return std::max(least, min_restart_fraction * most);
}

void ProjectiveFits::prepare(const PairContext& work, std::span<const Group> groups, double side,
                             FieldDetail detail) {
  starts_.set(work, groups, detail,
              [side](const FitDirection& roles) { return roles.spacing(side); });
}

void ProjectiveFits::fit_on_level(const PairContext& work, SimilarityFit& fitter,
                                  const FitOptions& options, double side) {
  prepare(work, level_groups_, side, FieldDetail::smoothed);
  auto fit = fitter.fit_together(work.stream, work.clock, starts_.groups(), options).begin();
  for (std::size_t g = 0; g < level_groups_.size(); ++g) {
    for (Attempt& attempt : level_groups_[g]) {
      const auto& result = (fit++)->result();
      attempt.is_fitted = result.has_value();
      if (result) attempt.matrix = starts_.levels(g).to_images(result->matrix);
    }
  }
}

// In each group, attempts that start from coarser levels must come first.
void ProjectiveFits::fit_levels_of(const PairContext& work, SimilarityFit& fitter, Motion motion,
                                   std::span<const Group> groups) {
  for (const FitLevel& level : fit_levels()) {
    level_groups_.clear();
    for (const Group& group : groups) {
      const auto end = std::find_if_not(group.begin(), group.end(), [&](const Attempt& attempt) {
        return includes_level(level, motion, attempt.first_side);
      });
      const Group begun = group.first(static_cast<std::size_t>(end - group.begin()));
      if (!begun.empty() && can_fit_on(level, begun.front().roles)) level_groups_.push_back(begun);
    }
    if (level_groups_.empty()) continue;
    const Motion fitted_motion = motion == Motion::affine ? Motion::affine : level.motion;
    fit_on_level(work, fitter, {fitted_motion, level.iterations, level.tolerance, level.max_drift},
                 level.side);
  }
}

// Scores the candidates `judged` of the attempts at their matrices.
void ProjectiveFits::score_together(const PairContext& work, SimilarityFit& fitter,
                                    std::span<const Group> groups) {
  prepare(work, groups, scoring_side, FieldDetail::whole);
  auto sums = fitter.evaluate_together(work.stream, work.clock, starts_.groups()).begin();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (Attempt& attempt : groups[g]) {
      score_candidate(work, attempt.roles, starts_.levels(g), attempt.matrix, *sums++,
                      *attempt.judged);
    }
  }
}

// Scores the candidates again, because a candidate whose scale is near 1 may have been scored with
// the images' roles exchanged. Significances are comparable only for the same roles, because they
// depend on the effective sample size of the finer image.
void ProjectiveFits::score_starts(const PairContext& work, SimilarityFit& fitter) {
  attempts_.clear();
  for (Target& target : targets_) {
    add_attempt(target, 0);
    attempts_.back().judged = *target.candidate;
  }
  for_level_groups(work, std::span(attempts_), groups_,
                   [&](std::span<const Group> groups) { score_together(work, fitter, groups); });
  for (const Attempt& attempt : attempts_) {
    attempt.target->start_significance = attempt.judged->significance;
  }
}

// Scores the attempts that were fitted and are plausible views of a plane.
void ProjectiveFits::score_fitted(const PairContext& work, SimilarityFit& fitter, Motion motion,
                                  std::span<const Group> groups) {
  const auto is_plausible = [&](const Attempt& attempt) {
    // A transform that is regular over an image is regular over its levels, too, because their
    // samples lie within the image.
    return attempt.is_fitted &&
           is_regular(attempt.matrix, attempt.roles.coarse().shape(), min_divisor_of_view) &&
           is_plausible_view(scaled(attempt.roles.to_fit_frame(attempt.matrix)),
                             work.reference.shape(), work.moving.shape(),
                             attempt.target->candidate->proposed_by);
  };
  plausible_.clear();
  for (const Group& group : groups) {
    const auto end = std::partition(group.begin(), group.end(), is_plausible);
    const Group plausible = group.first(static_cast<std::size_t>(end - group.begin()));
    if (!plausible.empty()) plausible_.push_back(plausible);
    for (Attempt& attempt : plausible) {
      attempt.judged = *attempt.target->candidate;
      attempt.judged->motion = motion;
      attempt.judged->richer = scaled(attempt.roles.to_fit_frame(attempt.matrix));
    }
  }
  score_together(work, fitter, plausible_);
}

void ProjectiveFits::add_attempt(Target& target, double first_side) {
  attempts_.push_back({&target, target.roles, first_side, target.start});
}

void ProjectiveFits::make_attempts(const PairContext& work, SimilarityFit& fitter, Motion motion) {
  for_level_groups(work, std::span(attempts_), groups_, [&](std::span<const Group> groups) {
    for (const Group& group : groups) {
      std::sort(group.begin(), group.end(),
                [](const Attempt& a, const Attempt& b) { return a.first_side < b.first_side; });
    }
    fit_levels_of(work, fitter, motion, groups);
    score_fitted(work, fitter, motion, groups);
  });
}

// Keeps the attempt if it is the candidate's most significant fit so far.
void ProjectiveFits::keep_if_best(const Attempt& attempt) {
  if (!attempt.judged) return;
  std::optional<Candidate>& best = attempt.target->best;
  if (!best || attempt.judged->significance > best->significance) best = attempt.judged;
}

// The number of starting levels to fit from in the next round, after `begun` of them.
std::size_t ProjectiveFits::sides_at_once(std::size_t begun) const {
  if (!starts_at_once_) return 1;
  if (begun == 0 && targets_.size() > max_with_all_levels) return 1;
  return first_sides.size() - begun;
}

void ProjectiveFits::fit(const PairContext& work, SimilarityFit& fitter, Motion motion,
                         std::span<Candidate> candidates) {
  targets_.clear();
  for (Candidate& candidate : candidates) {
    const FitDirection roles(work, candidate.matrix);
    targets_.push_back({&candidate, roles, roles.to_fit_frame(candidate.matrix)});
  }
  score_starts(work, fitter);
  double least = 0;
  const auto may_improve = [&](const Target& target) {
    return target.best_significance() >= least && (!target.best || is_inconclusive(*target.best));
  };
  for (std::span<const double> sides(first_sides); !sides.empty();) {
    const auto now = sides.first(sides_at_once(first_sides.size() - sides.size()));
    attempts_.clear();
    for (Target& target : targets_) {
      if (!may_improve(target)) continue;
      for (const double side : now) add_attempt(target, side);
    }
    make_attempts(work, fitter, motion);
    for (const double side : now) {
      for (const Attempt& attempt : attempts_) {
        if (attempt.first_side == side && may_improve(*attempt.target)) keep_if_best(attempt);
      }
      least = restart_threshold(work);
    }
    sides = sides.subspan(now.size());
  }
  for (const Target& target : targets_) {
    const bool is_better =
        target.best && target.best->significance >= min_gain * target.start_significance;
    if (is_better) *target.candidate = *target.best;
  }
}

std::span<const Candidate> ProjectiveFits::fit_from_patches(const PairContext& work,
                                                            SimilarityFit& fitter,
                                                            std::span<const Homography> starts) {
  const Shape& reference = work.reference.shape();
  const Shape& moving = work.moving.shape();
  targets_.clear();
  by_windows_.clear();
  by_windows_.reserve(starts.size());  // targets_ points to the elements
  targets_.reserve(starts.size());
  for (const Homography& start : starts) {
    if (!is_plausible_view(start, reference, moving, SearchMethod::patches)) continue;
    Candidate candidate;
    candidate.proposed_by = SearchMethod::patches;
    candidate.matrix = alignment_of(Motion::homography, start, reference, moving)
                           .similarity.matrix(reference, moving);
    const FitDirection roles(work, candidate.matrix, start);
    const Homography to_fit_frame = roles.to_fit_frame(start);
    if (!is_regular(to_fit_frame, roles.coarse().shape(), min_divisor_of_view)) continue;
    by_windows_.push_back(candidate);
    targets_.push_back({&by_windows_.back(), roles, to_fit_frame});
  }
  attempts_.clear();
  for (Target& target : targets_) {
    for (const double side : first_sides_from_patches) add_attempt(target, side);
  }
  make_attempts(work, fitter, Motion::homography);
  for (const Attempt& attempt : attempts_) keep_if_best(attempt);
  by_windows_.clear();
  for (const Target& target : targets_) {
    if (target.best) by_windows_.push_back(*target.best);
  }
  return by_windows_;
}

}  // namespace warpalign::detail
