// Selects the model of the transform, and refines it at full resolution.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/refinement/refinement.hpp"
#include "registration/refinement/richer_fits.hpp"
#include "registration/refinement/richer_models.hpp"
#include "registration/search/candidate_evaluator.hpp"

#include <warpalign/registrar.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Takes the similarities that a search has found, fits the model that the options name at the best
/// of them, or chooses it, and refines the best.
class ModelSelection {
 public:
  /// Adds homographies that follow from no similarity. The search that calls supplies them.
  using AddHomographies = std::function<void(std::vector<Candidate>& candidates)>;

  /// The options, `fitter` and `evaluator` outlive it.
  ModelSelection(const Device& device, const RegistrationOptions& options, SimilarityFit& fitter,
                 CandidateEvaluator& evaluator);

  /// Puts the best candidate first, with the selected model, refined if the options ask for it, and
  /// tests it against `trials` wrong poses. There may be no candidates: `more` may add some.
  void conclude(const PairContext& context, std::vector<Candidate>& candidates, double trials,
                const AddHomographies& more = {});
  /// The same without the test. The candidates are in order, the most probable first.
  void select(const PairContext& context, std::vector<Candidate>& candidates,
              const AddHomographies& more = {});
  /// Fits homographies coarsely where proposals lead, and adds those that the options allow.
  void fit_homographies(const PairContext& context, std::span<const Candidate> proposals,
                        std::vector<Candidate>& candidates);
  /// Fits a homography near `start`, and refines it if the options ask for it.
  std::optional<Candidate> fit_near(const PairContext& context, const Homography& start);

 private:
  void refine(const PairContext& context, Candidate& candidate);
  void fit_at_best_places(const PairContext& context, Motion motion,
                          std::vector<Candidate>& candidates);
  void take_richer_model(const PairContext& context, std::vector<Candidate>& candidates,
                         const AddHomographies& more);
  void add_homographies(const PairContext& context, std::vector<Candidate>& candidates,
                        const AddHomographies& more);
  bool may_be_convincing_as_plane(const PairContext& context, const Candidate& place);
  bool is_better_as(const PairContext& context, Motion motion, Candidate& chosen);
  bool find_place_of_homography(const PairContext& context, std::vector<Candidate>& candidates,
                                const AddHomographies& more);
  void take_model_that_explains_best(const PairContext& context, std::vector<Candidate>& candidates,
                                     const AddHomographies& more);

  const RegistrationOptions& options_;
  SimilarityFit& fitter_;
  CandidateEvaluator& evaluator_;
  Refinement refinement_;
  RicherFits richer_fits_;
  RicherModels richer_models_;
  std::vector<Homography> agreed_;  // keeps its memory
};

/// Whether a candidate makes further homographies unnecessary. A homography that is right in a part
/// of the image only may be convincing; patches find the one that is right in all of it.
[[nodiscard]] bool is_certain_homography(const Candidate& candidate);

}  // namespace warpalign::detail
