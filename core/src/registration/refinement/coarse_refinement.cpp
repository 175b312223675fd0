// Refines and scores candidates on coarse levels of the images.
#include "registration/refinement/coarse_refinement.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace warpalign::detail {

namespace {

// Levels with a smaller side have too little detail to start from.
constexpr double min_scored_side = 48;

// The maximum number of candidates that are fitted on the last level.
constexpr std::ptrdiff_t max_on_last_level = 16;

// RefineFrom::log_polar skips the first level.
struct RefinementLevel {
  double coarser;  // the spacing relative to the finest of these levels
  int iterations;
  double tolerance, max_drift;
};
constexpr std::array<RefinementLevel, 3> refinement_levels{
    {{4, 20, 0.05, 0.2}, {2, 12, 0.02, 0.15}, {1, 10, 0.005, 0.08}}};

}  // namespace

void CoarseRefinement::refine(const PairContext& work, std::vector<Candidate>& candidates,
                              RefineFrom from) {
  targets_.clear();
  for (Candidate& candidate : candidates) {
    const FitDirection roles(work, candidate.matrix);
    targets_.push_back({&candidate, roles, roles.to_fit_frame(candidate.matrix)});
  }
  const auto in_groups = [&](auto use) {
    for_level_groups(work, std::span(targets_), groups_, use);
  };
  constexpr std::size_t last = refinement_levels.size() - 1;
  in_groups([&](std::span<const Group> groups) {
    for (std::size_t i = static_cast<std::size_t>(from); i < last; ++i) {
      fit_on_level(work, groups, i);
    }
  });
  drop_least_significant(candidates);
  in_groups([&](std::span<const Group> groups) {
    fit_on_level(work, groups, last);
    score_groups(work, groups);
  });
}

void CoarseRefinement::score(const PairContext& work, Candidate& candidate) {
  const FitDirection roles(work, candidate.matrix);
  targets_.assign(1, {&candidate, roles, roles.to_fit_frame(candidate.matrix)});
  const Affine matrix = candidate.matrix;
  for_level_groups(work, std::span(targets_), groups_,
                   [&](std::span<const Group> groups) { score_groups(work, groups); });
  candidate.matrix = matrix;  // not changed by the rounding of two inversions
}

// A fit on the last level takes as long as all fits before it. Candidates that are not significant
// by then are unlikely to be correct.
void CoarseRefinement::drop_least_significant(std::vector<Candidate>& candidates) {
  if (std::ssize(targets_) <= max_on_last_level) return;
  const auto best = targets_.begin() + max_on_last_level;
  std::nth_element(targets_.begin(), best, targets_.end(), [](const Target& a, const Target& b) {
    return a.significance > b.significance;
  });
  kept_.clear();
  for (auto target = targets_.begin(); target != best; ++target)
    kept_.push_back(*target->candidate);
  targets_.erase(best, targets_.end());
  candidates.swap(kept_);
  for (std::size_t i = 0; i < targets_.size(); ++i) targets_[i].candidate = &candidates[i];
}

void CoarseRefinement::prepare(const PairContext& work, std::span<const Group> groups,
                               double coarser, FieldDetail detail) {
  starts_.set(work, groups, detail, [coarser](const FitDirection& roles) {
    return coarser * roles.spacing(scoring_side);
  });
}

void CoarseRefinement::fit_on_level(const PairContext& work, std::span<const Group> groups,
                                    std::size_t level) {
  const RefinementLevel& limits = refinement_levels[level];
  level_groups_.clear();
  for (const Group& group : groups) {
    const FitDirection& roles = group.front().roles;
    const bool too_small =
        roles.side(limits.coarser * roles.spacing(scoring_side)) < min_scored_side;
    if (!too_small || limits.coarser == 1) level_groups_.push_back(group);
  }
  prepare(work, level_groups_, limits.coarser, FieldDetail::smoothed);
  auto fit = fitter_
                 .fit_together(work.stream, work.clock, starts_.groups(),
                               {motion_, limits.iterations, limits.tolerance, limits.max_drift})
                 .begin();
  for (std::size_t g = 0; g < level_groups_.size(); ++g) {
    for (Target& target : level_groups_[g]) {
      const auto& result = (fit++)->result();
      target.significance = result ? significance_of(result->correlation, result->pixels) : 0;
      if (result) target.matrix = starts_.levels(g).to_images(result->matrix).affine();
    }
  }
}

void CoarseRefinement::score_groups(const PairContext& work, std::span<const Group> groups) {
  prepare(work, groups, 1, FieldDetail::whole);
  auto sums = fitter_.evaluate_together(work.stream, work.clock, starts_.groups()).begin();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Target& target : groups[g]) {
      Candidate& candidate = *target.candidate;
      candidate.matrix = target.roles.to_fit_frame(target.matrix);
      score_candidate(work, target.roles, starts_.levels(g), target.matrix, *sums++, candidate);
    }
  }
}

}  // namespace warpalign::detail
