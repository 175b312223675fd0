// The whole search by gradient orientation, for images of other modalities.
#pragma once

#include "registration/pair/forked_worker.hpp"
#include "registration/proposers/proposer.hpp"
#include "registration/search/candidate_evaluator.hpp"
#include "registration/search/model_selection.hpp"

#include <warpalign/registrar.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// By how much more poses chance has to agree at if both intensity and orientation are compared.
inline constexpr double trials_factor_of_two_signals = 2;

/// A grid of all rotations and scales, fits at the best of its poses, their test against chance,
/// and the selection of a model. Works on a fork of the pair while intensity is searched.
class GradientOrientationSearch {
 public:
  /// The options outlive it.
  GradientOrientationSearch(const Device& device, const RegistrationOptions& options)
      : device_(device), options_(options) {}

  void run(const PairContext& pair);
  /// The best first; incomplete if the search was cancelled.
  [[nodiscard]] const std::vector<Candidate>& found() const { return candidates_; }

 private:
  /// Fits proposals and tests the candidates.
  struct Evaluation {
    Evaluation(const Device& device, const RegistrationOptions& options)
        : fitter(device), evaluator(device, options, fitter) {}
    void run(const PairContext& context, std::span<const Candidate> proposals, double trials);
    SimilarityFit fitter;
    CandidateEvaluator evaluator;
    std::vector<Candidate> candidates;
  };
  struct Stages {
    Stages(const Device& device, const RegistrationOptions& options);
    std::unique_ptr<Proposer> grid;
    Evaluation evaluation;
    ModelSelection selection;
  };
  void evaluate_in_halves(const PairContext& context, double trials);

  Device device_;
  const RegistrationOptions& options_;
  std::optional<Stages> stages_;                    // created when a pair first needs them
  std::optional<ForkedWorker<Evaluation>> worker_;  // likewise
  std::vector<Candidate> proposals_, candidates_;
};

}  // namespace warpalign::detail
