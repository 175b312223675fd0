// Affine transforms and homographies, fitted coarsely where a search has found similarities or
// where windows agree.
#include "registration/refinement/richer_fits.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/registration_result.hpp"
#include "registration/refinement/view_of_plane.hpp"

#include <algorithm>
#include <cstddef>

namespace warpalign::detail {

namespace {

// A richer model that is much less significant than the similarity has gone astray.
constexpr double min_gain = 0.95;

// Starts from finer levels do not bring a place to the front whose first fit, and the similarity
// that it began with, have less than this fraction of the best place's significance or, by grey
// levels, less than this significance. Of 44 real pairs that a homography explains, the place that
// ended as the best one had 0.86 of the best and a significance of 34, or more, after its first
// start.
constexpr double hopeless_fraction = 0.6;
constexpr double hopeless_significance = 20;

// Of so many places or fewer, fits from all levels are made at once. Of more, most turn out to be
// hopeless after the first.
constexpr std::size_t most_with_all_levels = 3;

}  // namespace

double RicherFits::Place::reached() const {
  return std::max(start_significance, best ? best->significance : 0.0);
}

// The significance from which on a place is fitted from finer levels, too.
double RicherFits::least_to_start_again(const PairContext& work) const {
  double most = 0;
  for (const Place& place : places_) most = std::max(most, place.reached());
  const double least = !work.compares_orientation() ? hopeless_significance : 0;
  return std::max(least, hopeless_fraction * most);
}

void RicherFits::prepare(const PairContext& work, std::span<const Group> groups, double side,
                         FieldDetail detail) {
  starts_.set(work, groups, detail, [side](const FitRoles& roles) { return roles.spacing(side); });
}

void RicherFits::fit_on_level(const PairContext& work, SimilarityFit& fitter,
                              const FitOptions& options, double side) {
  prepare(work, of_level_, side, FieldDetail::smoothed);
  auto fit = fitter.fit_together(work.stream, work.clock, starts_.groups(), options).begin();
  for (std::size_t g = 0; g < of_level_.size(); ++g) {
    for (Attempt& attempt : of_level_[g]) {
      const auto& result = (fit++)->result();
      attempt.is_fitted = result.has_value();
      if (result) attempt.matrix = starts_.levels(g).to_images(result->matrix);
    }
  }
}

// In each group, attempts that begin with coarser levels come first.
void RicherFits::fit_levels_of(const PairContext& work, SimilarityFit& fitter, Motion motion,
                               std::span<const Group> groups) {
  for (const FitLevel& level : fit_levels()) {
    of_level_.clear();
    for (const Group& group : groups) {
      const auto end = std::find_if_not(group.begin(), group.end(), [&](const Attempt& attempt) {
        return is_level_of(level, motion, attempt.first_side);
      });
      const Group begun = group.first(static_cast<std::size_t>(end - group.begin()));
      if (!begun.empty() && is_fitted_on(level, begun.front().roles)) of_level_.push_back(begun);
    }
    if (of_level_.empty()) continue;
    const Motion fitted_motion = motion == Motion::affine ? Motion::affine : level.motion;
    fit_on_level(work, fitter, {fitted_motion, level.iterations, level.tolerance, level.max_drift},
                 level.side);
  }
}

// Judges the candidates `judged` of attempts, at their matrices.
void RicherFits::judge_together(const PairContext& work, SimilarityFit& fitter,
                                std::span<const Group> groups) {
  prepare(work, groups, judged_side, FieldDetail::whole);
  auto sums = fitter.evaluate_together(work.stream, work.clock, starts_.groups()).begin();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (Attempt& attempt : groups[g]) {
      judge(work, attempt.roles, starts_.levels(g), attempt.matrix, *sums++, *attempt.judged);
    }
  }
}

// A candidate whose scale is near 1 may have been judged with the images' roles exchanged, and
// significances are comparable within the same roles only: they count the independent pixels of the
// finer image.
void RicherFits::judge_starts(const PairContext& work, SimilarityFit& fitter) {
  attempts_.clear();
  for (Place& place : places_) {
    add_attempt(place, 0);
    attempts_.back().judged = *place.candidate;
  }
  for_groups_of_same_levels(
      work, std::span(attempts_), groups_,
      [&](std::span<const Group> groups) { judge_together(work, fitter, groups); });
  for (const Attempt& attempt : attempts_) {
    attempt.place->start_significance = attempt.judged->significance;
  }
}

// Judges those of the attempts that were fitted and may be views of a plane.
void RicherFits::judge_fitted(const PairContext& work, SimilarityFit& fitter, Motion motion,
                              std::span<const Group> groups) {
  const auto may_be = [&](const Attempt& attempt) {
    // What is regular over an image is so over its levels, whose samples lie within it.
    return attempt.is_fitted &&
           is_regular(attempt.matrix, attempt.roles.coarse().shape(), min_divisor_of_view) &&
           is_plausible_view(scaled(attempt.roles.in_roles(attempt.matrix)), work.reference.shape(),
                             work.moving.shape(), attempt.place->candidate->proposed_by);
  };
  plausible_.clear();
  for (const Group& group : groups) {
    const auto end = std::partition(group.begin(), group.end(), may_be);
    const Group plausible = group.first(static_cast<std::size_t>(end - group.begin()));
    if (!plausible.empty()) plausible_.push_back(plausible);
    for (Attempt& attempt : plausible) {
      attempt.judged = *attempt.place->candidate;
      attempt.judged->motion = motion;
      attempt.judged->richer = scaled(attempt.roles.in_roles(attempt.matrix));
    }
  }
  judge_together(work, fitter, plausible_);
}

void RicherFits::add_attempt(Place& place, double first_side) {
  attempts_.push_back({&place, place.roles, first_side, place.start});
}

void RicherFits::make_attempts(const PairContext& work, SimilarityFit& fitter, Motion motion) {
  for_groups_of_same_levels(
      work, std::span(attempts_), groups_, [&](std::span<const Group> groups) {
        for (const Group& group : groups) {
          std::sort(group.begin(), group.end(),
                    [](const Attempt& a, const Attempt& b) { return a.first_side < b.first_side; });
        }
        fit_levels_of(work, fitter, motion, groups);
        judge_fitted(work, fitter, motion, groups);
      });
}

// Keeps the most significant fit of a place so far.
void RicherFits::take(const Attempt& attempt) {
  if (!attempt.judged) return;
  std::optional<Candidate>& best = attempt.place->best;
  if (!best || attempt.judged->significance > best->significance) best = attempt.judged;
}

// How many of the sides with which fits begin are begun with together.
std::size_t RicherFits::sides_at_once(std::size_t begun) const {
  if (!starts_at_once_) return 1;
  if (begun == 0 && places_.size() > most_with_all_levels) return 1;
  return first_sides.size() - begun;
}

void RicherFits::fit(const PairContext& work, SimilarityFit& fitter, Motion motion,
                     std::span<Candidate> candidates) {
  places_.clear();
  for (Candidate& candidate : candidates) {
    const FitRoles roles(work, candidate.matrix);
    places_.push_back({&candidate, roles, roles.in_roles(candidate.matrix)});
  }
  judge_starts(work, fitter);
  double least = 0;
  const auto is_worth_it = [&](const Place& place) {
    return place.reached() >= least && (!place.best || is_in_doubt(*place.best));
  };
  for (std::span<const double> sides(first_sides); !sides.empty();) {
    const auto now = sides.first(sides_at_once(first_sides.size() - sides.size()));
    attempts_.clear();
    for (Place& place : places_) {
      if (!is_worth_it(place)) continue;
      for (const double side : now) add_attempt(place, side);
    }
    make_attempts(work, fitter, motion);
    for (const double side : now) {
      for (const Attempt& attempt : attempts_) {
        if (attempt.first_side == side && is_worth_it(*attempt.place)) take(attempt);
      }
      least = least_to_start_again(work);
    }
    sides = sides.subspan(now.size());
  }
  for (const Place& place : places_) {
    const bool is_better =
        place.best && place.best->significance >= min_gain * place.start_significance;
    if (is_better) *place.candidate = *place.best;
  }
}

std::span<const Candidate> RicherFits::fit_by_windows(const PairContext& work,
                                                      SimilarityFit& fitter,
                                                      std::span<const Homography> starts) {
  const Shape& reference = work.reference.shape();
  const Shape& moving = work.moving.shape();
  places_.clear();
  by_windows_.clear();
  by_windows_.reserve(starts.size());  // so that none moves
  places_.reserve(starts.size());
  for (const Homography& start : starts) {
    if (!is_plausible_view(start, reference, moving, Generator::windows)) continue;
    Candidate candidate;
    candidate.proposed_by = Generator::windows;
    candidate.matrix = registered(Motion::homography, start, reference, moving)
                           .similarity.matrix(reference, moving);
    const FitRoles roles(work, candidate.matrix, start);
    const Homography in_roles = roles.in_roles(start);
    if (!is_regular(in_roles, roles.coarse().shape(), min_divisor_of_view)) continue;
    by_windows_.push_back(candidate);
    places_.push_back({&by_windows_.back(), roles, in_roles});
  }
  attempts_.clear();
  for (Place& place : places_) {
    for (const double side : first_sides_by_windows) add_attempt(place, side);
  }
  make_attempts(work, fitter, Motion::homography);
  for (const Attempt& attempt : attempts_) take(attempt);
  by_windows_.clear();
  for (const Place& place : places_) {
    if (place.best) by_windows_.push_back(*place.best);
  }
  return by_windows_;
}

}  // namespace warpalign::detail
