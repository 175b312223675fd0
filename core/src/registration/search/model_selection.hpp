// Selects the transform model and refines the result at full resolution.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/refinement/projective_fits.hpp"
#include "registration/refinement/projective_refinement.hpp"
#include "registration/refinement/refinement.hpp"
#include "registration/search/candidate_evaluator.hpp"

#include <warpalign/registrar.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Takes the similarities that a search has found, fits the model that the options name at the best
/// ones (or chooses the model), and refines the best result.
class ModelSelection {
 public:
  /// Adds homographies that no similarity candidate leads to. The calling search supplies the
  /// function.
  using AddHomographies = std::function<void(std::vector<Candidate>& candidates)>;

  /// `options`, `fitter` and `evaluator` must outlive the selection.
  ModelSelection(const Device& device, const RegistrationOptions& options, SimilarityFit& fitter,
                 CandidateEvaluator& evaluator);

  /// Moves the best candidate to the front, with the selected model, and refines it if the options
  /// say so; then runs its null test with `trials` trials. `candidates` may be empty: `more` may
  /// add some.
  void conclude(const PairContext& context, std::vector<Candidate>& candidates, double trials,
                const AddHomographies& more = {});
  /// As conclude(), without the null test. Expects the most probable candidate first.
  void select(const PairContext& context, std::vector<Candidate>& candidates,
              const AddHomographies& more = {});
  /// Fits homographies coarsely at the proposals, and adds those that the options allow.
  void fit_homographies(const PairContext& context, std::span<const Candidate> proposals,
                        std::vector<Candidate>& candidates);
  /// Fits a homography near `start`, and refines it if the options say so.
  std::optional<Candidate> fit_near(const PairContext& context, const Homography& start);

 private:
  void refine(const PairContext& context, Candidate& candidate);
  void fit_at_best_candidates(const PairContext& context, Motion motion,
                              std::vector<Candidate>& candidates);
  void apply_requested_model(const PairContext& context, std::vector<Candidate>& candidates,
                             const AddHomographies& more);
  void add_homographies(const PairContext& context, std::vector<Candidate>& candidates,
                        const AddHomographies& more);
  bool may_be_convincing_plane(const PairContext& context, const Candidate& candidate);
  bool upgrade_model(const PairContext& context, Motion motion, Candidate& chosen);
  bool find_homography_pose(const PairContext& context, std::vector<Candidate>& candidates,
                            const AddHomographies& more);
  void choose_model(const PairContext& context, std::vector<Candidate>& candidates,
                    const AddHomographies& more);

  const RegistrationOptions& options_;
  SimilarityFit& fitter_;
  CandidateEvaluator& evaluator_;
  Refinement refinement_;
  ProjectiveFits richer_fits_;
  ProjectiveRefinement richer_models_;
  std::vector<Homography> agreed_;  // reused buffer
};

/// Whether a candidate makes further homographies unnecessary. A homography that is right in only
/// part of the image can be convincing; patches find the one that is right everywhere.
[[nodiscard]] bool is_certain_homography(const Candidate& candidate);

}  // namespace warpalign::detail
