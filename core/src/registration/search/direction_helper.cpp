// Another thread that judges some of the places that a grid by directions of edges has found.
#include "registration/search/direction_helper.hpp"

namespace warpalign::detail {

void judge_places(const PairWork& work, CandidateJudge& judge,
                  std::span<const TranslationPeak> peaks, double places,
                  std::vector<Candidate>& candidates) {
  candidates.clear();
  if (peaks.empty() || work.is_stopped()) return;
  judge.add(work, judge.starts_at(work, peaks), RefineFrom::grid, candidates);
  if (work.is_stopped()) return;
  judge.test(work, candidates, places);
}

DirectionHelper::DirectionHelper(const Device& device, Motion model,
                                 const RegistrationOptions& options)
    : ones_(device, max_searched_levels),
      fields_(device, ones_),
      judge_(device, model, options, ones_, false),
      thread_(device, [this](const PairWork& work, const Part& part) {
        judge_places(work, judge_, part.peaks, part.places, candidates_);
        return Found(candidates_);
      }) {}

void DirectionHelper::show(const PairWork& pair) {
  fields_.begin_pair();
  thread_.show(pair).fields = &fields_;
}

}  // namespace warpalign::detail
