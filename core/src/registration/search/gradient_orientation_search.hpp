// The complete search by gradient orientation, for images of different modalities.
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

/// The factor on the number of trials if both intensity and gradient orientation are compared.
inline constexpr double trials_factor_of_two_signals = 2;

/// Searches a grid of all rotations and scales, fits and tests the best poses, and selects a model.
/// Runs on a fork of the pair while the search by intensity continues.
class GradientOrientationSearch {
 public:
  /// `options` must outlive the search.
  GradientOrientationSearch(const Device& device, const RegistrationOptions& options)
      : device_(device), options_(options) {}

  void run(const PairContext& pair);
  /// The candidates, best first. Incomplete if the search was cancelled.
  [[nodiscard]] const std::vector<Candidate>& found() const { return candidates_; }

 private:
  /// Fits proposals and runs the null test on the candidates.
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
  std::optional<Stages> stages_;                    // created for the first pair that needs it
  std::optional<ForkedWorker<Evaluation>> worker_;  // created together with stages_
  std::vector<Candidate> proposals_, candidates_;
};

}  // namespace warpalign::detail
