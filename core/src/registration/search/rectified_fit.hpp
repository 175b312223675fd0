// Fits homographies to a pair whose moving image is warped to the reference's frame.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/pair_in_frame.hpp"
#include "registration/search/candidate_evaluator.hpp"
#include "registration/search/model_selection.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>

namespace warpalign::detail {

/// For views so oblique that the levels of the images as they are hold too little in common.
class RectifiedFit {
 public:
  /// `evaluator` and `selection` outlive it.
  RectifiedFit(const Device& device, CandidateEvaluator& evaluator, ModelSelection& selection)
      : evaluator_(evaluator), selection_(selection), in_frame_(device) {}

  /// A homography fitted near a proposal's, tested against `trials` wrong poses and compared with
  /// the candidates elsewhere. Nothing if the fit fails, or leads where the options do not allow.
  std::optional<Candidate> fit(const PairContext& context, const Candidate& proposal, double trials,
                               std::span<const Candidate> candidates);

 private:
  CandidateEvaluator& evaluator_;
  ModelSelection& selection_;
  PairInFrame in_frame_;
};

}  // namespace warpalign::detail
