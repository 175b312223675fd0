// The complete search by gradient orientation, for images of different modalities.
#include "registration/search/gradient_orientation_search.hpp"

#include "registration/pair/candidate_set.hpp"
#include "registration/pair/search_limits.hpp"
#include "registration/proposers/grid_proposer.hpp"

namespace warpalign::detail {

void GradientOrientationSearch::Evaluation::run(const PairContext& context,
                                                std::span<const Candidate> proposals,
                                                double trials) {
  candidates.clear();
  if (proposals.empty() || context.is_cancelled()) return;
  evaluator.add(context, proposals, RefineFrom::grid, candidates);
  if (context.is_cancelled()) return;
  evaluator.test(context, candidates, trials);
}

GradientOrientationSearch::Stages::Stages(const Device& device, const RegistrationOptions& options)
    : grid(make_orientation_grid(device, options)),
      evaluation(device, options),
      selection(device, options, evaluation.fitter, evaluation.evaluator) {}

void GradientOrientationSearch::run(const PairContext& pair) {
  if (!stages_) stages_.emplace(device_, options_);
  const PairContext context = pair.comparing(SignalKind::orientation);
  const bool both = options_.modality == Modality::automatic;
  const double trials = num_trials(options_, context) * (both ? trials_factor_of_two_signals : 1);
  proposals_.clear();
  stages_->grid->propose(context, 0, {}, proposals_);
  evaluate_in_halves(context, trials);
  if (!context.is_cancelled()) stages_->selection.conclude(context, candidates_, trials);
}

// Evaluates the proposals in two halves even without a worker: the last bits of a result depend on
// which candidates are computed together.
void GradientOrientationSearch::evaluate_in_halves(const PairContext& context, double trials) {
  const std::span<const Candidate> all(proposals_);
  const std::span<const Candidate> first = all.first((all.size() + 1) / 2);
  const std::span<const Candidate> second = all.subspan(first.size());
  Evaluation& own = stages_->evaluation;
  const auto evaluate_first = [&] {
    own.run(context, first, trials);
    candidates_ = own.candidates;
  };
  const auto merge_all = [&](std::span<const Candidate> found) {
    for (const Candidate& candidate : found) merge(context, candidate, candidates_);
  };
  if (context.threads == nullptr || second.empty()) {
    evaluate_first();
    own.run(context, second, trials);
    return merge_all(own.candidates);
  }
  if (!worker_) worker_.emplace(device_, context.threads, device_, options_);
  worker_->begin_pair(context);
  worker_->run([&](const PairContext& fork, Evaluation& other) { other.run(fork, second, trials); },
               evaluate_first);
  merge_all(worker_->state().candidates);
}

}  // namespace warpalign::detail
