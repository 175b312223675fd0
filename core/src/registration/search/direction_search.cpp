// All places at which directions of edges agree, for images of other modalities.
#include "registration/search/direction_search.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/search_limits.hpp"

#include <algorithm>

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
  const std::span<const TranslationPeak> peaks = grid.find(work, places_of_grid(options_));
  peaks_.assign(peaks.begin(), peaks.end());
  judge_all(work, places);
  if (!work.is_stopped()) judge.conclude(work, candidates_, places);
}

// Places of similar scales are fitted on the same levels, which only one of both threads makes
// then. They are judged by halves without a helper, too: the last bits of a result depend on what
// is computed together.
void DirectionSearch::judge_all(const PairWork& work, double places) {
  CandidateJudge& judge = stages_->judge;
  std::sort(peaks_.begin(), peaks_.end(), [](const TranslationPeak& a, const TranslationPeak& b) {
    return scale_of(a.matrix) < scale_of(b.matrix);
  });
  const std::span<const TranslationPeak> all(peaks_);
  const std::span<const TranslationPeak> own = all.first((all.size() + 1) / 2);
  const std::span<const TranslationPeak> others = all.subspan(own.size());
  const auto judge_own = [&] { judge_places(work, judge, own, places, candidates_); };
  DirectionHelper::Found of_others;
  if (may_be_helped_ && work.is_alone && !others.empty()) {
    if (!helper_) helper_.emplace(device_, model_, options_);
    helper_->show(work);
    of_others = helper_->beside({others, places}, judge_own);
  } else {
    judge_own();
    judge_places(work, judge, others, places, of_others_);
    of_others = of_others_;
  }
  for (const Candidate& candidate : of_others) {
    CandidateJudge::merge(work, candidate, candidates_);
  }
}

}  // namespace warpalign::detail
