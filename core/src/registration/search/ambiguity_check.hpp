// Says whether two images match at other shifts as well as where a search has found them to.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/pair/initial_pose.hpp"
#include "registration/scoring/alternative_search.hpp"
#include "registration/search/candidate_evaluator.hpp"
#include "registration/search/model_selection.hpp"

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// What leaves a pose open.
struct Ambiguity {
  std::vector<Point> period;   ///< see period_of(), in pixels of the reference
  std::optional<Point> along;  ///< see Alternatives::along
};

/// Used by one thread at a time.
class AmbiguityCheck {
 public:
  /// The options, `evaluator` and `selection` outlive it.
  AmbiguityCheck(const Device& device, const RegistrationOptions& options,
                 CandidateEvaluator& evaluator, ModelSelection& selection)
      : options_(options), evaluator_(evaluator), selection_(selection), alternatives_(device) {}

  /// See Registrar::set_prior().
  void set_prior(const std::optional<MotionPrior>& prior) { prior_ = prior; }

  /// Compares the first candidate, which is reliable, with all other shifts that the options allow.
  /// If one scores nearly as much, the candidate's confidence falls below one half, however
  /// significant it is; of shifts that score alike the one of the smallest motion, or nearest to
  /// `initial`, or without it to the prior, comes first, and others follow as runners-up. Shifts
  /// that `initial` or the prior excludes do not count.
  /// `initial`: the pose near which the answer is looked for, or null.
  std::optional<Ambiguity> check(const PairContext& context, std::vector<Candidate>& candidates,
                                 double trials, const InitialPose* initial = nullptr);

 private:
  [[nodiscard]] bool has_origin() const;
  const Alternatives& alternatives_of(const PairContext& context, const Candidate& candidate);
  [[nodiscard]] double motion_of(const PairContext& context, const Affine& matrix) const;
  [[nodiscard]] double quality(const PairContext& context, const Affine& from,
                               const Alternatives::Alternative& alternative) const;
  [[nodiscard]] double best_quality(const PairContext& context, const Affine& from,
                                    const Alternatives& alternatives) const;
  [[nodiscard]] bool is_equal(const PairContext& context, const Affine& from,
                              const Alternatives::Alternative& alternative,
                              const Alternatives& alternatives) const;
  [[nodiscard]] double remaining_ratio(const PairContext& context, const Candidate& found,
                                       const Alternatives& alternatives) const;
  [[nodiscard]] std::vector<Point> equals_of(const PairContext& context, const Candidate& found,
                                             const Alternatives& alternatives) const;
  std::optional<Candidate> with_smallest_motion(const PairContext& context, const Candidate& found,
                                                const Alternatives& known);
  [[nodiscard]] std::optional<Candidate> selected_at(const PairContext& context,
                                                     const Candidate& pose, double apart,
                                                     double trials);
  void add_runners_up(const PairContext& context, std::span<const Point> equals,
                      std::vector<Candidate>& candidates, double trials);

  const RegistrationOptions& options_;
  CandidateEvaluator& evaluator_;
  ModelSelection& selection_;
  AlternativeSearch alternatives_;
  std::optional<MotionPrior> prior_;
  const InitialPose* initial_ = nullptr;  // of the current call
};

}  // namespace warpalign::detail
