// Fits homographies to a pair whose moving image is warped to the reference's frame.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/rectified_pair.hpp"
#include "registration/search/candidate_evaluator.hpp"
#include "registration/search/model_selection.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>

namespace warpalign::detail {

/// For views so oblique that levels of the original images have too little content in common.
class RectifiedFit {
 public:
  /// `evaluator` and `selection` must outlive the fit.
  RectifiedFit(const Device& device, CandidateEvaluator& evaluator, ModelSelection& selection)
      : evaluator_(evaluator), selection_(selection), in_frame_(device) {}

  /// Fits a homography near the proposal's, runs its null test with `trials` trials, and compares
  /// it with the candidates at other poses. Returns nothing if the fit fails or the options exclude
  /// the result.
  std::optional<Candidate> fit(const PairContext& context, const Candidate& proposal, double trials,
                               std::span<const Candidate> candidates);

 private:
  CandidateEvaluator& evaluator_;
  ModelSelection& selection_;
  RectifiedPair in_frame_;
};

}  // namespace warpalign::detail
