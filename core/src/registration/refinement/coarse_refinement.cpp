// Refines candidates on coarse levels of the images, and judges them there.
#include "registration/refinement/coarse_refinement.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace warpalign::detail {

namespace {

// The side of a level below which it holds too little detail to start from.
constexpr double min_side = 48;

// How many places are fitted on the last level.
constexpr std::ptrdiff_t most_on_last_level = 16;

// What begins at RefineFrom::log_polar leaves out the first level.
struct RefinementLevel {
  double coarser;  // than the finest of these levels
  int iterations;
  double tolerance, max_drift;
};
constexpr std::array<RefinementLevel, 3> refinement_levels{
    {{4, 20, 0.05, 0.2}, {2, 12, 0.02, 0.15}, {1, 10, 0.005, 0.08}}};

}  // namespace

void CoarseRefinement::refine(const PairContext& work, std::vector<Candidate>& candidates,
                              RefineFrom from) {
  places_.clear();
  for (Candidate& candidate : candidates) {
    const FitRoles roles(work, candidate.matrix);
    places_.push_back({&candidate, roles, roles.in_roles(candidate.matrix)});
  }
  const auto in_groups = [&](auto use) {
    for_groups_of_same_levels(work, std::span(places_), groups_, use);
  };
  constexpr std::size_t last = refinement_levels.size() - 1;
  in_groups([&](std::span<const Group> groups) {
    for (std::size_t i = static_cast<std::size_t>(from); i < last; ++i) {
      fit_on_level(work, groups, i);
    }
  });
  leave_out_least(candidates);
  in_groups([&](std::span<const Group> groups) {
    fit_on_level(work, groups, last);
    judge_groups(work, groups);
  });
}

// A fit on the last level takes as long as all before it, and what has not begun to agree there is
// not what is looked for.
void CoarseRefinement::leave_out_least(std::vector<Candidate>& candidates) {
  if (std::ssize(places_) <= most_on_last_level) return;
  const auto best = places_.begin() + most_on_last_level;
  std::nth_element(places_.begin(), best, places_.end(),
                   [](const Place& a, const Place& b) { return a.standing > b.standing; });
  kept_.clear();
  for (auto place = places_.begin(); place != best; ++place) kept_.push_back(*place->candidate);
  places_.erase(best, places_.end());
  candidates.swap(kept_);
  for (std::size_t i = 0; i < places_.size(); ++i) places_[i].candidate = &candidates[i];
}

void CoarseRefinement::prepare(const PairContext& work, std::span<const Group> groups,
                               double coarser, FieldDetail detail) {
  starts_.set(work, groups, detail,
              [coarser](const FitRoles& roles) { return coarser * roles.spacing(judged_side); });
}

void CoarseRefinement::fit_on_level(const PairContext& work, std::span<const Group> groups,
                                    std::size_t level) {
  const RefinementLevel& limits = refinement_levels[level];
  of_level_.clear();
  for (const Group& group : groups) {
    const FitRoles& roles = group.front().roles;
    const bool too_small = roles.side(limits.coarser * roles.spacing(judged_side)) < min_side;
    if (!too_small || limits.coarser == 1) of_level_.push_back(group);
  }
  prepare(work, of_level_, limits.coarser, FieldDetail::smoothed);
  auto fit = fitter_
                 .fit_together(work.stream, work.clock, starts_.groups(),
                               {motion_, limits.iterations, limits.tolerance, limits.max_drift})
                 .begin();
  for (std::size_t g = 0; g < of_level_.size(); ++g) {
    for (Place& place : of_level_[g]) {
      const auto& result = (fit++)->result();
      place.standing = result ? significance_of(result->correlation, result->pixels) : 0;
      if (result) place.matrix = starts_.levels(g).to_images(result->matrix).affine();
    }
  }
}

void CoarseRefinement::judge_groups(const PairContext& work, std::span<const Group> groups) {
  prepare(work, groups, 1, FieldDetail::whole);
  auto sums = fitter_.evaluate_together(work.stream, work.clock, starts_.groups()).begin();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Place& place : groups[g]) {
      Candidate& candidate = *place.candidate;
      candidate.matrix = place.roles.in_roles(place.matrix);
      judge(work, place.roles, starts_.levels(g), place.matrix, *sums++, candidate);
    }
  }
}

}  // namespace warpalign::detail
