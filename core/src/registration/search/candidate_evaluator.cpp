// Evaluates proposals: a coarse fit, then a null test.
#include "registration/search/candidate_evaluator.hpp"

#include "registration/numerics/short_list.hpp"
#include "registration/pair/candidate_set.hpp"
#include "registration/pair/motion_model.hpp"
#include "registration/pair/search_limits.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// The null test is run on this many candidates, the most significant ones.
constexpr std::size_t max_tested = 6;

// Unrelated images have lower shift scores.
constexpr double min_shift_score = 4;

// The factor by which a candidate's search multiplies the number of trials: a model with more
// parameters has more ways to fit, and patches are compared by several signals.
double trials_factor(const Candidate& candidate) {
  if (candidate.motion == Motion::affine) return 1e2;
  if (candidate.motion != Motion::homography) return 1;
  return candidate.proposed_by == SearchMethod::patches ? 2e4 : 1e4;
}

}  // namespace

CandidateEvaluator::CandidateEvaluator(const Device& device, const RegistrationOptions& options,
                                       SimilarityFit& fitter)
    : options_(options),
      device_(device),
      coarse_refinement_(searched_motion(options.motion), fitter) {}

bool CandidateEvaluator::is_allowed(const PairContext& context, const Candidate& candidate) const {
  return within_limits(options_, context, candidate.matrix);
}

void CandidateEvaluator::add(const PairContext& context, std::span<const Candidate> proposals,
                             RefineFrom from, std::vector<Candidate>& candidates) {
  fitted_.clear();
  for (const Candidate& proposal : proposals) {
    if (proposal.shift_score < min_shift_score) continue;
    if (!contains(context, candidates, proposal) && !contains(context, fitted_, proposal)) {
      fitted_.push_back(proposal);
    }
  }
  coarse_refinement_.refine(context, fitted_, from);
  for (const Candidate& candidate : fitted_) {
    if (is_allowed(context, candidate)) merge(context, candidate, candidates);
  }
}

Candidate CandidateEvaluator::fitted(const PairContext& context, const Candidate& candidate,
                                     RefineFrom from) {
  fitted_.assign(1, candidate);
  coarse_refinement_.refine(context, fitted_, from);
  return fitted_.front();
}

void CandidateEvaluator::test(const PairContext& context, std::span<Candidate> candidates,
                              double trials) {
  untested_.clear();
  for (Candidate& candidate : candidates) {
    if (!candidate.null_test) untested_.push_back(&candidate);
  }
  if (untested_.empty()) return;
  if (!significance_test_) significance_test_.emplace(device_);
  const std::span<const double> z_scores = significance_test_->z_scores(context, untested_);
  for (std::size_t i = 0; i < untested_.size(); ++i) {
    Candidate& candidate = *untested_[i];
    candidate.null_test = {z_scores[i], max_null_z_score(trials * trials_factor(candidate)), 0};
  }
}

bool CandidateEvaluator::has_significant(const PairContext& context,
                                         std::vector<Candidate>& candidates, double trials) {
  sort_short_list(candidates, [](const Candidate& a, const Candidate& b) {
    return a.significance > b.significance;
  });
  if (candidates.empty()) return false;
  if (candidates.front().beyond_doubt()) return true;
  const std::size_t count = std::min(max_tested, candidates.size());
  test(context, std::span(candidates).first(count), trials);
  return std::any_of(candidates.begin(), candidates.end(), is_convincing);
}

}  // namespace warpalign::detail
