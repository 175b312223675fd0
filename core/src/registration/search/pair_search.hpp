// Finds the transform between two images: interprets the schedule (schedule.hpp).
#pragma once

#include "registration/features/structure_proposer.hpp"
#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/pair/initial_pose.hpp"
#include "registration/resources/unit_weights.hpp"
#include "registration/scene/fixed_pattern_check.hpp"
#include "registration/scoring/strip_structure.hpp"
#include "registration/search/ambiguity_check.hpp"
#include "registration/search/candidate_evaluator.hpp"
#include "registration/search/gradient_orientation_search.hpp"
#include "registration/search/model_selection.hpp"
#include "registration/search/rectified_fit.hpp"
#include "registration/search/schedule.hpp"
#include "registration/search/scheduled_proposer.hpp"
#include "registration/search/speculation.hpp"
#include "registration/signal/gradient_fields.hpp"
#include "registration/tasks/thread_budget.hpp"

#include <warpalign/registrar.hpp>

#include <memory>
#include <span>
#include <vector>

namespace warpalign::detail {

class PairSearch {
 public:
  /// The search starts up to `max_workers` threads in addition to the caller's. Results do not
  /// depend on it. `options` must outlive the search.
  PairSearch(const Device& device, const RegistrationOptions& options, int max_workers);
  PairSearch(const PairSearch&) = delete;
  PairSearch& operator=(const PairSearch&) = delete;

  /// Returns the best candidates, most significant first; the first one is refined if the options
  /// say so. Empty if the options exclude every candidate or no shift scores high enough. Waits for
  /// the device. The result is valid until the next call.
  /// `initial`: the transform near which the answer is looked for, or null.
  std::span<const Candidate> run(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                 ImagePyramid& moving, const InitialPose* initial = nullptr);
  /// See Registrar::set_prior().
  void set_prior(const std::optional<MotionPrior>& prior) { ambiguity_check_.set_prior(prior); }
  /// Tells that the scene deforms, so that a part of it may stay where it was: it is not taken for
  /// a pattern that is fixed to the sensor.
  void expect_deformation() { deforms_ = true; }
  /// Why the last run's best candidate is ambiguous, if the comparison of shifts found that it is.
  [[nodiscard]] const std::optional<Ambiguity>& ambiguity() const { return ambiguity_; }
  /// The proposers that the last run used, in order of first use.
  [[nodiscard]] const SearchMethods& tried() const { return tried_; }
  /// The number of trials of the last run (see num_trials()).
  [[nodiscard]] double trials() const { return trials_; }

 private:
  class EarlyWork;
  ScheduledProposer& proposer_of(const Step& step);
  void search(PairContext context, const InitialPose* initial);
  void begin_pair(const PairContext& context);
  static void leave_out_shared_hot_pixels(const PairContext& context);
  void begin_early_work(const PairContext& context);

  [[nodiscard]] bool is_unnecessary(const PairContext& context, Unless condition);
  [[nodiscard]] bool ends_at_initial(const Step& step) const;
  void execute(const PairContext& context, const Step& step);
  void try_initial(const PairContext& context);
  bool holds_at_initial(const PairContext& context);
  bool holds_at_initial(const PairContext& context, RefineFrom from);
  bool holds_as_homography(const PairContext& context);
  void propose(const PairContext& context, const Step& step);
  void match_points(const PairContext& context, const Step& step);
  bool fit(const PairContext& context, std::span<const Candidate> proposals, const Step& step);
  bool add(const PairContext& context, std::span<const Candidate> proposals, RefineFrom from);
  void fit_rectified(const PairContext& context, std::span<const Candidate> proposals);
  void probe_orientation(const PairContext& context);
  void search_orientation(const PairContext& context);
  void select_model(const PairContext& context);
  void add_homographies(const PairContext& context, std::vector<Candidate>& candidates);
  void verify_orientation(const PairContext& context);
  void choose_signal(const PairContext& context);
  void ask_both_signals(const PairContext& context);
  void compare_shifts(const PairContext& context);
  void match_structure(const PairContext& context);
  void leave_out_fixed_pattern(const PairContext& context);
  std::span<const Candidate> search_rest(const PairContext& rest, const InitialPose* initial);
  bool resembles_still_pose(const PairContext& context);
  void add_still_pose(const PairContext& context);

  [[nodiscard]] bool is_accepted(const PairContext& context, Candidate& candidate);
  [[nodiscard]] bool intensity_agrees_at(const PairContext& context, const Candidate& pose);
  [[nodiscard]] bool is_reliable(const std::vector<Candidate>& candidates) const;
  [[nodiscard]] bool is_reliable(const Candidate& best) const;
  [[nodiscard]] bool ends_with(const std::vector<Candidate>& candidates, double confidence) const;
  [[nodiscard]] bool is_better(const PairContext& context, const std::vector<Candidate>& candidates,
                               const std::vector<Candidate>& others) const;

  const RegistrationOptions& options_;
  ThreadBudget workers_;
  ThreadBudget* threads_;  // null: runs on the caller's thread alone
  UnitWeights unit_weights_;
  GradientFields orientation_fields_;
  SimilarityFit fitter_;
  CandidateEvaluator evaluator_;
  ModelSelection selection_;
  RectifiedFit rectified_fit_;
  AmbiguityCheck ambiguity_check_;
  StripStructure strip_structure_;
  FixedPatternCheck fixed_pattern_check_;
  StructureProposer structure_proposer_;

  // The state of the run. Members reuse their memory.
  std::vector<Candidate> intensity_;    // after coarse fits
  std::vector<Candidate> selected_;     // intensity_ after select_model
  std::vector<Candidate> orientation_;  // after the selection of a model
  std::vector<Candidate> result_;
  std::vector<Candidate> of_whole_images_;  // result_ while parts of the images are searched
  const InitialPose* initial_ = nullptr;
  std::vector<Candidate> at_initial_;  // the result of the initial transform, if it is reliable
  std::vector<Candidate> fitted_at_initial_;  // a local that keeps its memory
  bool deforms_ = false;
  bool points_agree_ = false;  // result_ is that of point sources
  bool accepted_ = false;      // a candidate of intensity_ makes others unnecessary
  bool has_selected_ = false, tried_patches_ = false;
  bool conclusive_ = false;     // orientation is certain, and intensity is unrelated there
  bool compared_both_ = false;  // verify_orientation has run
  bool proposed_ = false, began_early_work_ = false;
  std::optional<Ambiguity> ambiguity_;
  SearchMethods tried_;
  double trials_ = 0;
  int consecutive_fallbacks_ = 0;  // pairs in a row whose first proposals were not accepted

  // Declared last: their threads use the members above and must end first.
  GradientOrientationSearch orientation_search_;
  Speculation orientation_run_;
  std::vector<std::unique_ptr<ScheduledProposer>> proposers_;
};

/// The number of threads that the search for a pair may start in addition to the caller's. 0 if the
/// device runs one queue at a time.
[[nodiscard]] int workers_of(const Device& device, const RegistrationOptions& options);

}  // namespace warpalign::detail
