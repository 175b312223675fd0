// Evaluates proposals: a coarse fit, then a null test.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/refinement/coarse_refinement.hpp"
#include "registration/scoring/significance_test.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Not thread-safe. `trials` is the number of trials (see num_trials()).
class CandidateEvaluator {
 public:
  /// `options` and `fitter` must outlive the evaluator.
  CandidateEvaluator(const Device& device, const RegistrationOptions& options,
                     SimilarityFit& fitter);

  /// Fits the proposals coarsely and adds those that the options allow. Skips proposals with a low
  /// shift score, and those whose poses are already among the candidates.
  void add(const PairContext& context, std::span<const Candidate> proposals, RefineFrom from,
           std::vector<Candidate>& candidates);
  /// Returns the candidate after a coarse fit. Ignores the limits of the options.
  Candidate fitted(const PairContext& context, const Candidate& candidate, RefineFrom from);
  /// Scores a candidate without a fit.
  void score(const PairContext& context, Candidate& candidate) {
    coarse_refinement_.score(context, candidate);
  }
  /// Runs the null test on the candidates that have not been tested yet.
  void test(const PairContext& context, std::span<Candidate> candidates, double trials);
  /// Sorts the candidates by significance, tests the most significant ones unless one is beyond
  /// doubt, and returns whether a candidate is convincing.
  bool has_significant(const PairContext& context, std::vector<Candidate>& candidates,
                       double trials);

  [[nodiscard]] bool is_allowed(const PairContext& context, const Candidate& candidate) const;

 private:
  const RegistrationOptions& options_;
  Device device_;
  CoarseRefinement coarse_refinement_;
  std::optional<SignificanceTest> significance_test_;
  // Reused buffers.
  std::vector<Candidate> fitted_;     // proposals of one batch of fits
  std::vector<Candidate*> untested_;  // candidates of one batch of tests
};

}  // namespace warpalign::detail
