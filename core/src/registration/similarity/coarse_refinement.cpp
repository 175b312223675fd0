// Refines candidates on coarse levels of the images, and judges them there.
#include "registration/similarity/coarse_refinement.hpp"

#include <array>

namespace warpalign::detail {

namespace {

// The side of a level below which it holds too little detail to start from.
constexpr double min_side = 48;

// What begins at RefineFrom::log_polar leaves out the first level.
struct RefinementLevel {
  double coarser;  // than the finest of these levels
  int iterations;
  double tolerance, max_drift;
};
constexpr std::array<RefinementLevel, 3> refinement_levels{
    {{4, 20, 0.05, 0.2}, {2, 12, 0.02, 0.15}, {1, 10, 0.005, 0.08}}};

}  // namespace

void CoarseRefinement::refine(const PairWork& work, std::span<Candidate> candidates,
                              RefineFrom from) {
  places_.clear();
  for (Candidate& candidate : candidates) {
    const FitRoles roles(work, candidate.matrix);
    places_.push_back({&candidate, roles, roles.in_roles(candidate.matrix)});
  }
  for_groups_of_same_levels(work, std::span(places_), groups_, [&](std::span<const Group> groups) {
    refine_groups(work, groups, from);
  });
}

void CoarseRefinement::refine_groups(const PairWork& work, std::span<const Group> groups,
                                     RefineFrom from) {
  for (std::size_t i = static_cast<std::size_t>(from); i < refinement_levels.size(); ++i) {
    fit_on_level(work, groups, i);
  }
  judge_groups(work, groups);
}

void CoarseRefinement::prepare(const PairWork& work, std::span<const Group> groups,
                               double coarser) {
  starts_.set(work, ones_, groups,
              [coarser](const FitRoles& roles) { return coarser * roles.spacing(judged_side); });
}

void CoarseRefinement::fit_on_level(const PairWork& work, std::span<const Group> groups,
                                    std::size_t level) {
  const RefinementLevel& limits = refinement_levels[level];
  of_level_.clear();
  for (const Group& group : groups) {
    const FitRoles& roles = group.front().roles;
    const bool too_small = roles.side(limits.coarser * roles.spacing(judged_side)) < min_side;
    if (!too_small || limits.coarser == 1) of_level_.push_back(group);
  }
  prepare(work, of_level_, limits.coarser);
  auto fit = fitter_
                 .fit_together(work.stream, work.clock, starts_.groups(),
                               {motion_, limits.iterations, limits.tolerance, limits.max_drift})
                 .begin();
  for (std::size_t g = 0; g < of_level_.size(); ++g) {
    for (Place& place : of_level_[g]) {
      const auto& result = (fit++)->result();
      if (result) place.matrix = starts_.levels(g).to_images(result->matrix).affine();
    }
  }
}

void CoarseRefinement::judge_groups(const PairWork& work, std::span<const Group> groups) {
  prepare(work, groups, 1);
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
