// Evaluates what proposers propose: a coarse fit, and a test against chance.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/refinement/coarse_refinement.hpp"
#include "registration/scoring/chance_test.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Used by one thread at a time. `trials` is how many independent wrong poses the search might take
/// for the right one.
class CandidateEvaluator {
 public:
  /// The options outlive it, and so does `fitter`.
  CandidateEvaluator(const Device& device, const RegistrationOptions& options,
                     SimilarityFit& fitter);

  /// Fits coarsely those proposals whose poses are not among the candidates yet, and adds those
  /// that the options allow.
  void add(const PairContext& context, std::span<const Candidate> proposals, RefineFrom from,
           std::vector<Candidate>& candidates);
  /// A candidate after a coarse fit, whatever the options allow.
  Candidate fitted(const PairContext& context, const Candidate& candidate, RefineFrom from);
  /// Tests those candidates against chance that were not tested yet.
  void test(const PairContext& context, std::span<Candidate> candidates, double trials);
  /// Sorts the most significant first, tests these, unless one is beyond doubt, and says whether
  /// one is convincing.
  bool has_significant(const PairContext& context, std::vector<Candidate>& candidates,
                       double trials);

  [[nodiscard]] bool is_allowed(const PairContext& context, const Candidate& candidate) const;

 private:
  const RegistrationOptions& options_;
  Device device_;
  CoarseRefinement coarse_refinement_;
  std::optional<ChanceTest> chance_test_;
  // Members so that their memory is reused.
  std::vector<Candidate> fitted_;     // those that are fitted together
  std::vector<Candidate*> untested_;  // those that are tested together
};

}  // namespace warpalign::detail
