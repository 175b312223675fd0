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
  for_each_of_same_levels(std::span(places_),
                          [&](std::span<Place> places) { refine_group(work, places, from); });
}

void CoarseRefinement::refine_group(const PairWork& work, std::span<Place> places,
                                    RefineFrom from) {
  const FitRoles& roles = places.front().roles;
  const double spacing = roles.spacing(judged_side);
  for (std::size_t i = static_cast<std::size_t>(from); i < refinement_levels.size(); ++i) {
    const double coarser = refinement_levels[i].coarser;
    const bool too_small = roles.side(coarser * spacing) < min_side;
    if (too_small && coarser > 1) continue;
    fit_on_level(work, places, i, coarser * spacing);
  }
  judge_group(work, places, spacing);
}

void CoarseRefinement::fit_on_level(const PairWork& work, std::span<Place> places,
                                    std::size_t level, double spacing) {
  const FitRoles::Levels levels = places.front().roles.levels(work, ones_, spacing);
  const RefinementLevel& limits = refinement_levels[level];
  matrices_.clear();
  for (const Place& place : places) matrices_.push_back(levels.to_levels(place.matrix));
  const auto fitted =
      fitter_.fit_together(work.stream, work.clock, levels.pair, matrices_,
                           {motion_, limits.iterations, limits.tolerance, limits.max_drift});
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& result = fitted[i].result();
    if (result) places[i].matrix = levels.to_images(result->matrix).affine();
  }
}

void CoarseRefinement::judge_group(const PairWork& work, std::span<Place> places, double spacing) {
  const FitRoles& roles = places.front().roles;
  const FitRoles::Levels levels = roles.levels(work, ones_, spacing);
  matrices_.clear();
  for (const Place& place : places) matrices_.push_back(levels.to_levels(place.matrix));
  const auto sums = fitter_.evaluate_together(work.stream, work.clock, levels.pair, matrices_);
  for (std::size_t i = 0; i < places.size(); ++i) {
    Candidate& candidate = *places[i].candidate;
    candidate.matrix = roles.in_roles(places[i].matrix);
    judge(work, roles, levels, places[i].matrix, sums[i], candidate);
  }
}

}  // namespace warpalign::detail
