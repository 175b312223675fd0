// All places at which directions of edges agree, for images of other modalities.
#include "registration/similarity/direction_search.hpp"

#include "registration/similarity/search_limits.hpp"

namespace warpalign::detail {

// Edges lie on one another only nearer to the right place than grey levels correlate: from a step
// of the standard grid a refinement often ends at a wrong one.
DirectionSearch::Stages::Stages(const Device& device, Motion model,
                                const RegistrationOptions& options, Ones& ones,
                                GradientFields& fields, bool may_be_helped)
    : grid(device, options, ones,
           options.search == Effort::thorough ? fine_grid : grid_of_directions, &fields,
           may_be_helped),
      judge(device, model, options, ones, false) {}

DirectionSearch::DirectionSearch(const Device& device, Motion model,
                                 const RegistrationOptions& options, bool may_be_helped)
    : device_(device),
      model_(model),
      options_(options),
      may_be_helped_(may_be_helped),
      ones_(device, max_searched_levels),
      fields_(device, ones_) {}

void DirectionSearch::search(const PairWork& pair, int /*step*/) {
  if (!stages_) stages_.emplace(device_, model_, options_, ones_, fields_, may_be_helped_);
  auto& [grid, judge] = *stages_;
  PairWork work = pair;
  fields_.begin_pair();
  work.fields = &fields_;
  const bool either = options_.modality == Modality::automatic;
  const double places = places_searched(options_, work) * (either ? chances_of_both : 1);
  candidates_.clear();
  const auto peaks = grid.find(work, places_of_grid(options_));
  if (work.is_stopped()) return;
  judge.add(work, judge.starts_at(work, peaks), RefineFrom::grid, candidates_);
  if (work.is_stopped()) return;
  judge.test(work, candidates_, places);
  if (work.is_stopped()) return;
  judge.conclude(work, candidates_, places);
}

}  // namespace warpalign::detail
