// Finds the transform between two images: interprets the schedule (schedule.hpp).
#include "registration/search/pair_search.hpp"

#include "device/access.hpp"
#include "registration/features/feature_search.hpp"
#include "registration/pair/candidate_set.hpp"
#include "registration/pair/motion_model.hpp"
#include "registration/pair/search_limits.hpp"
#include "registration/scoring/significance_test.hpp"
#include "registration/search/signal_agreement.hpp"
#include "registration/tasks/active_search.hpp"

#include <algorithm>
#include <utility>

namespace warpalign::detail {

namespace {

// Images of different contrast correlate by intensity too, but weakly and not exactly at the right
// pose. If intensity ends below the first of these confidences, or below the correlation that
// images of one contrast reach, the search evaluates gradient orientation at the intensity result;
// below the second confidence, it searches all poses by orientation.
constexpr double certain_confidence = 0.99;
constexpr double fair_confidence = 0.9;
constexpr double clear_correlation = 0.5;

// If orientation is certain of a pose and intensity has less confidence than this there, the
// intensities are unrelated. Images of one contrast have more even if a plane is tilted and no
// similarity aligns all of it.
constexpr double doubtful_confidence = 0.01;

// After this many pairs in a row for which the first proposals were not accepted, the early work of
// the next pair starts at once.
constexpr int fallbacks_that_predict = 2;

// Unrelated hot pixels coincide in one of these many pairs of images.
constexpr double coincidence_rate = 1e-4;

// Whether two ascending lists of pixels, out of `pixels`, have more in common than chance leads to,
// by the first term of Poisson's tail.
bool share_more_than_by_chance(std::span<const std::size_t> a, std::span<const std::size_t> b,
                               double pixels) {
  const double expected = static_cast<double>(a.size()) * static_cast<double>(b.size()) / pixels;
  double chance = 1;
  double shared = 0;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] == b[k]) {
      ++shared;
      chance *= expected / shared;
    }
    const bool first = a[i] <= b[k];
    const bool second = b[k] <= a[i];
    i += first ? 1 : 0;
    k += second ? 1 : 0;
  }
  return shared > expected && chance < coincidence_rate;
}

RefineFrom start_of_fit(const Step& step) {
  return step.method == SearchMethod::grid ? RefineFrom::grid : RefineFrom::log_polar;
}

}  // namespace

// A standard search has 14 tasks: three early proposers and the orientation search, two workers for
// each grid, one each for the patches, the features and the orientation fits, and three that sample
// homographies. A thorough search has two more.
int workers_of(const Device& device, const RegistrationOptions& options) {
  if (!Access::driver(device).has_concurrent_queues()) return 0;
  const bool automatic = options.max_threads == RegistrationOptions::automatic_threads;
  return (automatic ? RegistrationOptions::thread_limit : options.max_threads) - 1;
}

PairSearch::PairSearch(const Device& device, const RegistrationOptions& options, int max_workers)
    : options_(options),
      workers_(max_workers),
      threads_(max_workers > 0 ? &workers_ : nullptr),
      unit_weights_(device, max_searched_levels),
      orientation_fields_(device, unit_weights_),
      fitter_(device),
      evaluator_(device, options, fitter_),
      selection_(device, options, fitter_, evaluator_),
      rectified_fit_(device, evaluator_, selection_),
      ambiguity_check_(device, options, evaluator_, selection_),
      fixed_pattern_check_(device),
      orientation_search_(device, options),
      orientation_run_(device, threads_, [this](const PairContext& context, int /*round*/) {
        orientation_search_.run(context);
      }) {
  const auto make = [&](const Step& step) {
    if (step.proposer == no_proposer || !applies(step, options)) return;
    for (const auto& proposer : proposers_) {
      if (proposer->kind() == step.proposer) return;
    }
    proposers_.push_back(std::make_unique<ScheduledProposer>(
        device, options, step.proposer, step.begins == Begins::early ? threads_ : nullptr));
    if (step.unless == Unless::nothing) proposers_.back()->prepare();  // every pair needs it
  };
  std::for_each(search_schedule.begin(), search_schedule.end(), make);
  std::for_each(homography_schedule.begin(), homography_schedule.end(), make);
}

ScheduledProposer& PairSearch::proposer_of(const Step& step) {
  return **std::find_if(proposers_.begin(), proposers_.end(),
                        [&](const auto& proposer) { return proposer->kind() == step.proposer; });
}

/// Ends the early work of a pair when the search for the pair ends.
class PairSearch::EarlyWork {
 public:
  explicit EarlyWork(PairSearch& search) : search_(search) {}
  EarlyWork(const EarlyWork&) = delete;
  EarlyWork& operator=(const EarlyWork&) = delete;
  ~EarlyWork() {
    for (const auto& proposer : search_.proposers_) proposer->end_pair();
    search_.orientation_run_.end();
  }

 private:
  PairSearch& search_;
};

std::span<const Candidate> PairSearch::run(Stream& stream, StageClock& clock,
                                           ImagePyramid& reference, ImagePyramid& moving,
                                           const InitialPose* initial) {
  const PairContext context{stream, clock, reference, moving, unit_weights_, orientation_fields_};
  leave_out_shared_hot_pixels(context);
  search(context, initial);
  if (!is_reliable(result_)) match_structure(context);
  if (initial == nullptr) leave_out_fixed_pattern(context);
  return result_;
}

void PairSearch::search(PairContext context, const InitialPose* initial) {
  const ActiveSearch active;
  const EarlyWork early_work(*this);
  begin_pair(context);
  initial_ = initial;
  if (ActiveSearch::is_exclusive()) context.threads = threads_;
  for (const Step& step : search_schedule) {
    if (!applies(step, options_) || ends_at_initial(step)) continue;
    if (!is_unnecessary(context, step.unless)) execute(context, step);
  }
}

// One small structure on an even background has too few independent pixels for the other steps.
void PairSearch::match_structure(const PairContext& context) {
  const bool shifts = options_.motion != Motion::rotation && !exceeds_similarity(options_.motion);
  const bool is_automatic = options_.motion == Motion::automatic;
  if (!(shifts || is_automatic) || options_.modality == Modality::other) return;
  auto found = structure_proposer_.propose(context);
  if (!found) return;
  found->null_test = {found->significance, max_null_z_score(trials_), 0};
  if (!is_reliable(*found) || !evaluator_.is_allowed(context, *found)) return;
  tried_.add(found->proposed_by);
  ambiguity_.reset();
  result_.insert(result_.begin(), *found);
}

// What is fixed to the sensor matches where it was in every image of a camera, and pulls the fit of
// a scene that moves. Searches again in what it leaves.
void PairSearch::leave_out_fixed_pattern(const PairContext& context) {
  if (deforms_ || points_agree_ || options_.modality == Modality::other) return;
  const bool reliable = is_reliable(result_);
  if (reliable && result_.front().by_orientation) return;
  if (reliable && resembles_still_pose(context)) {
    result_.front().other_shift_ratio = 1;
    return add_still_pose(context);
  }
  const std::optional<Ambiguity> ambiguity = ambiguity_;
  const SearchMethods tried = tried_;
  const double trials = trials_;
  const int fallbacks = consecutive_fallbacks_;
  of_whole_images_ = result_;
  const auto search_again = [this](const PairContext& rest, const InitialPose* initial) {
    return search_rest(rest, initial);
  };
  const bool has_scene =
      reliable ? fixed_pattern_check_.check(context, of_whole_images_, search_again)
               : fixed_pattern_check_.check_unreliable(context, of_whole_images_, search_again);
  result_ = of_whole_images_;
  ambiguity_ = ambiguity;
  tried_ = tried;
  trials_ = trials;
  consecutive_fallbacks_ = fallbacks;
  if (has_scene) add_still_pose(context);
}

std::span<const Candidate> PairSearch::search_rest(const PairContext& rest,
                                                   const InitialPose* initial) {
  if (initial == nullptr) {
    search(rest, nullptr);
  } else {
    begin_pair(rest);
    initial_ = initial;
    try_initial(rest);
  }
  if (!is_reliable(result_) || result_.front().by_orientation) return {};
  return result_;
}

// Whether images that have moved far match as well if nothing has moved. A pattern with symmetries,
// such as a reticle, also matches itself in other poses.
bool PairSearch::resembles_still_pose(const PairContext& context) {
  if (!FixedPatternCheck::is_beyond_reach(context, result_.front())) return false;
  Candidate still;
  evaluator_.score(context, still);
  return still.significance >= still_rival * result_.front().significance;
}

// The motion of a pattern that is fixed to the sensor, the runner-up of the scene's.
void PairSearch::add_still_pose(const PairContext& context) {
  Candidate still;
  still.proposed_by = result_.front().proposed_by;
  evaluator_.score(context, still);
  const bool is_listed = std::any_of(result_.begin(), result_.end(), [&](const Candidate& other) {
    return same_pose(context, still, other);
  });
  if (is_listed || !evaluator_.is_allowed(context, still)) return;
  still.other_shift_ratio = 1;
  result_.insert(result_.begin() + 1, still);
}

// Pixels that are hot at the same places in both images are the camera's: the scene is left, which
// may have moved.
void PairSearch::leave_out_shared_hot_pixels(const PairContext& context) {
  if (!(context.reference.shape() == context.moving.shape())) return;
  const auto pixels = static_cast<double>(context.reference.shape().plane());
  if (!share_more_than_by_chance(context.reference.hot_pixels(), context.moving.hot_pixels(),
                                 pixels)) {
    return;
  }
  context.reference.replace_hot_pixels(context.stream, context.clock, "the reference image");
  context.moving.replace_hot_pixels(context.stream, context.clock, "the moving image");
}

void PairSearch::begin_pair(const PairContext& context) {
  intensity_.clear();
  selected_.clear();
  orientation_.clear();
  result_.clear();
  at_initial_.clear();
  tried_.clear();
  points_agree_ = accepted_ = has_selected_ = tried_patches_ = conclusive_ = compared_both_ = false;
  proposed_ = began_early_work_ = false;
  ambiguity_.reset();
  trials_ = num_trials(options_, context);
  orientation_fields_.begin_pair();
}

// A pair whose first proposals are accepted needs no early work, and would have to wait for it.
void PairSearch::begin_early_work(const PairContext& context) {
  if (began_early_work_ || context.threads == nullptr || options_.search == Effort::fast) return;
  began_early_work_ = true;
  for (const auto& proposer : proposers_) proposer->begin(context);
  if (options_.modality == Modality::automatic) orientation_run_.begin(context);
}

bool PairSearch::is_unnecessary(const PairContext& context, Unless condition) {
  if (points_agree_) return true;
  switch (condition) {
    case Unless::nothing:
      return false;
    case Unless::not_sparse:
      return !context.reference.is_sparse() || !context.moving.is_sparse();
    case Unless::no_initial:
      return initial_ == nullptr;
    case Unless::accepted:
      return accepted_;
    case Unless::significant:
      return options_.search != Effort::thorough &&
             (accepted_ || evaluator_.has_significant(context, intensity_, trials_));
    case Unless::conclusive:
      return conclusive_;
    case Unless::certain_intensity:
      return conclusive_ || (ends_with(selected_, certain_confidence) &&
                             selected_.front().correlation >= clear_correlation);
    case Unless::certain_orientation:
      return is_unnecessary(context, Unless::certain_intensity) ||
             ends_with(selected_, fair_confidence) ||
             (is_better(context, orientation_, selected_) &&
              ends_with(orientation_, certain_confidence));
    case Unless::certain_homography:
      return options_.search != Effort::thorough &&
             std::any_of(selected_.begin(), selected_.end(), is_certain_homography);
    case Unless::reliable:
      return is_reliable(result_);
  }
  return false;
}

void PairSearch::execute(const PairContext& context, const Step& step) {
  switch (step.action) {
    case Action::try_initial:
      return try_initial(context);
    case Action::propose:
      return step.fit == Fit::as_proposed ? match_points(context, step) : propose(context, step);
    case Action::probe_orientation:
      return probe_orientation(context);
    case Action::search_orientation:
      return search_orientation(context);
    case Action::select_model:
      select_model(context);
      if (tried_patches_) tried_.add(SearchMethod::patches);
      return;
    case Action::verify_orientation:
      return verify_orientation(context);
    case Action::choose_signal:
      return choose_signal(context);
    case Action::compare_shifts:
      return compare_shifts(context);
  }
}

// Whether the initial transform has led to the answer, so that only shifts remain to be compared,
// and what follows if another one matches as well. Runners-up need the whole search.
bool PairSearch::ends_at_initial(const Step& step) const {
  return !at_initial_.empty() && options_.candidates == 1 &&
         step.action != Action::compare_shifts && step.unless != Unless::reliable;
}

void PairSearch::try_initial(const PairContext& context) {
  tried_.add(SearchMethod::initial);
  if (options_.modality == Modality::other) {
    holds_at_initial(context.comparing(SignalKind::orientation));
  } else if (!holds_at_initial(context) && options_.modality == Modality::automatic) {
    holds_at_initial(context.comparing(SignalKind::orientation));
  }
  result_ = at_initial_;
}

// A fit from the finer levels stays near its start; one from the coarser levels comes from farther.
bool PairSearch::holds_at_initial(const PairContext& context) {
  return holds_at_initial(context, RefineFrom::log_polar) || holds_as_homography(context) ||
         holds_at_initial(context, RefineFrom::grid);
}

bool PairSearch::holds_at_initial(const PairContext& context, RefineFrom from) {
  Candidate candidate;
  candidate.proposed_by = SearchMethod::initial;
  candidate.by_orientation = context.compares_orientation();
  candidate.matrix = start_of(context, options_.motion, initial_->similarity);
  std::vector<Candidate>& found = fitted_at_initial_;
  found.assign(1, evaluator_.fitted(context, candidate, from));
  if (!evaluator_.is_allowed(context, found.front())) return false;
  const bool two_signals = options_.modality == Modality::automatic && candidate.by_orientation;
  const double trials = two_signals ? trials_factor_of_two_signals * trials_ : trials_;
  evaluator_.test(context, found, trials);
  selection_.conclude(context, found, trials);
  if (!is_reliable(found)) return false;
  at_initial_ = found;
  return true;
}

// The nearest similarity may be too far from a homography to lead to it.
bool PairSearch::holds_as_homography(const PairContext& context) {
  if (!may_be_homography(options_.motion) || initial_->transform.is_affine()) return false;
  std::optional<Candidate> found = selection_.fit_near(context, initial_->transform);
  if (!found) return false;
  found->proposed_by = SearchMethod::initial;
  evaluator_.test(context, {&*found, 1}, trials_);
  if (!evaluator_.is_allowed(context, *found) || !is_reliable(*found)) return false;
  at_initial_.assign(1, *found);
  return true;
}

void PairSearch::propose(const PairContext& context, const Step& step) {
  tried_.add(step.method);
  const bool is_first = !proposed_;
  proposed_ = true;
  const bool predicts_fallback = consecutive_fallbacks_ >= fallbacks_that_predict;
  if (is_first ? predicts_fallback && step.when != When::translation : !accepted_) {
    begin_early_work(context);
  }
  // Steps that do not begin early run on the caller's thread alone.
  PairContext serial_context = context;
  serial_context.threads = nullptr;
  const bool early = step.begins == Begins::early;
  const auto proposals = proposer_of(step).propose(early ? context : serial_context, step.round);
  accepted_ = fit(context, proposals, step);
  if (is_first) {
    consecutive_fallbacks_ =
        accepted_ ? 0 : std::min(consecutive_fallbacks_ + 1, fallbacks_that_predict);
  }
}

// For sparse images before any other step; for images with points and other content if no other
// step is reliable. Only the brightness of few pixels tells where sparse images match, so the
// correlation of all pixels says little. The number of sources that agree has a null test of its
// own.
void PairSearch::match_points(const PairContext& context, const Step& step) {
  const bool has_points = !context.reference.points().empty() && !context.moving.points().empty();
  if (!has_points || tried_.contains(step.method)) return;
  tried_.add(step.method);
  for (Candidate candidate : proposer_of(step).propose(context, step.round)) {
    const PointAgreement& points = candidate.points.value();
    evaluator_.score(context, candidate);
    candidate.null_test = {points.z_score, max_null_z_score(points.trials), 0};
    candidate.other_shift_ratio = points.other_ratio;
    if (!is_reliable(candidate) || !evaluator_.is_allowed(context, candidate)) continue;
    points_agree_ = true;
    ambiguity_.reset();
    trials_ = points.trials;
    result_.insert(result_.begin(), candidate);
  }
}

// Returns whether a candidate is accepted.
bool PairSearch::fit(const PairContext& context, std::span<const Candidate> proposals,
                     const Step& step) {
  switch (step.fit) {
    case Fit::best_first:
      if (proposals.empty()) return false;
      if (add(context, proposals.first(1), start_of_fit(step))) return true;
      return proposals.size() > 1 && add(context, proposals.subspan(1), start_of_fit(step));
    case Fit::together:
      return add(context, proposals, start_of_fit(step));
    case Fit::rectified:
      fit_rectified(context, proposals);
      break;
    case Fit::as_proposed:
    case Fit::homographies:
    case Fit::none:
      break;
  }
  return accepted_;
}

bool PairSearch::add(const PairContext& context, std::span<const Candidate> proposals,
                     RefineFrom from) {
  evaluator_.add(context, proposals, from, intensity_);
  return options_.candidates == 1 && options_.search != Effort::thorough &&
         std::any_of(intensity_.begin(), intensity_.end(),
                     [&](Candidate& candidate) { return is_accepted(context, candidate); });
}

bool PairSearch::is_accepted(const PairContext& context, Candidate& candidate) {
  if (candidate.significance < accepted_significance) return false;
  if (!candidate.beyond_doubt()) evaluator_.test(context, {&candidate, 1}, trials_);
  return is_convincing(candidate);
}

// Each pair of simulated views is another opportunity for a wrong pose.
void PairSearch::fit_rectified(const PairContext& context, std::span<const Candidate> proposals) {
  trials_ *= num_view_pairs();
  std::optional<Candidate> best;
  for (const Candidate& proposal : proposals) {
    const auto candidate = rectified_fit_.fit(context, proposal, trials_, result_);
    if (!candidate || (best && best->evidence() >= candidate->evidence())) continue;
    best = candidate;
  }
  if (best && is_reliable(*best)) result_.insert(result_.begin(), *best);
}

// Checks whether orientation is certain of a pose at which the intensities are unrelated; further
// steps by intensity would then be in vain. While the orientation search is still running, selects
// a model by intensity, and discards it if orientation is conclusive.
void PairSearch::probe_orientation(const PairContext& context) {
  if (orientation_run_.is_running()) select_model(context);
  search_orientation(context);
  conclusive_ = ends_with(orientation_, certain_confidence) &&
                !intensity_agrees_at(context, orientation_.front());
  if (conclusive_) {
    trials_ *= trials_factor_of_two_signals;
  } else {
    orientation_.clear();
  }
}

void PairSearch::search_orientation(const PairContext& context) {
  tried_.add(SearchMethod::gradient_orientation);
  orientation_run_.finish(context, 0);
  orientation_ = orientation_search_.found();
}

bool PairSearch::intensity_agrees_at(const PairContext& context, const Candidate& pose) {
  Candidate candidate;
  candidate.matrix = pose.matrix;
  candidate = evaluator_.fitted(context, candidate, RefineFrom::log_polar);
  evaluator_.test(context, {&candidate, 1}, trials_factor_of_two_signals * trials_);
  return candidate.confidence() >= doubtful_confidence;
}

void PairSearch::select_model(const PairContext& context) {
  if (has_selected_) return;
  has_selected_ = true;
  selected_ = intensity_;
  if (!accepted_) static_cast<void>(evaluator_.has_significant(context, selected_, trials_));
  selection_.conclude(context, selected_, trials_,
                      [this, &context](std::vector<Candidate>& candidates) {
                        add_homographies(context, candidates);
                      });
}

void PairSearch::add_homographies(const PairContext& context, std::vector<Candidate>& candidates) {
  PairContext serial_context = context;
  serial_context.threads = nullptr;
  for (const Step& step : homography_schedule) {
    if (!applies(step, options_) || is_unnecessary(context, step.unless)) continue;
    tried_patches_ = true;
    const bool early = step.begins == Begins::early;
    const auto proposals =
        proposer_of(step).propose(early ? context : serial_context, step.round, candidates);
    selection_.fit_homographies(context, proposals, candidates);
  }
}

// Orientation, tried after intensity, is a second opportunity for every wrong pose.
void PairSearch::verify_orientation(const PairContext& context) {
  tried_.add(SearchMethod::gradient_orientation);
  compared_both_ = true;
  if (options_.modality == Modality::automatic) trials_ *= trials_factor_of_two_signals;
  if (!is_reliable(selected_)) return;
  const PairContext by_orientation = context.comparing(SignalKind::orientation);
  Candidate candidate;
  candidate.proposed_by = selected_.front().proposed_by;
  candidate.by_orientation = true;
  candidate.matrix = selected_.front().matrix;
  candidate = evaluator_.fitted(by_orientation, candidate, RefineFrom::grid);
  if (evaluator_.is_allowed(by_orientation, candidate)) orientation_.push_back(candidate);
  evaluator_.test(by_orientation, orientation_, trials_);
  selection_.conclude(by_orientation, orientation_, trials_);
}

void PairSearch::choose_signal(const PairContext& context) {
  const bool keeps_intensity = compared_both_ && options_.modality == Modality::automatic &&
                               !selected_.empty() && !is_better(context, orientation_, selected_);
  const bool by_orientation = conclusive_ || (compared_both_ && !keeps_intensity);
  result_ = by_orientation ? orientation_ : selected_;
  if (options_.modality == Modality::automatic) ask_both_signals(context);
  if (at_initial_.empty()) return;
  std::erase_if(result_, [&](const Candidate& other) {
    return same_pose(context, at_initial_.front(), other);
  });
  result_.insert(result_.begin(), at_initial_.begin(), at_initial_.end());
}

// Neither signal is certain, but both may have found the same transform.
void PairSearch::ask_both_signals(const PairContext& context) {
  if (!compared_both_ || selected_.empty() || orientation_.empty() || is_reliable(result_)) return;
  result_.front().agreement =
      agreement_evidence(context.reference.shape(), selected_.front(), orientation_.front());
}

void PairSearch::compare_shifts(const PairContext& context) {
  if (!is_reliable(result_)) return;
  const SignalKind signal =
      result_.front().by_orientation ? SignalKind::orientation : SignalKind::intensity;
  ambiguity_ = ambiguity_check_.check(context.comparing(signal), result_, trials_, initial_);
  // An initial pose says where along the lines the answer is.
  if (!is_reliable(result_) || initial_ != nullptr || points_agree_) return;
  if (const auto lines = strip_structure_.lines_of(context, result_.front())) {
    result_.front().other_shift_ratio = 1;
    ambiguity_ = Ambiguity{{}, lines};
  }
}

// Whether the registrar will report the first candidate as reliable.
bool PairSearch::is_reliable(const std::vector<Candidate>& candidates) const {
  return !candidates.empty() && is_reliable(candidates.front());
}

bool PairSearch::is_reliable(const Candidate& best) const {
  const Motion model = options_.motion;
  const bool fitted =
      !exceeds_similarity(model) || model == Motion::automatic || best.motion == model;
  return is_convincing(best) && fitted && (best.refined || !options_.refine);
}

bool PairSearch::ends_with(const std::vector<Candidate>& candidates, double confidence) const {
  return is_reliable(candidates) && candidates.front().confidence() >= confidence;
}

// At one pose the more significant result is better determined, and thus more accurate. At
// different poses the result with more evidence wins.
bool PairSearch::is_better(const PairContext& context, const std::vector<Candidate>& candidates,
                           const std::vector<Candidate>& others) const {
  if (candidates.empty() || others.empty()) return !candidates.empty();
  const Candidate& best = candidates.front();
  const Candidate& other = others.front();
  const bool reliable = is_reliable(best);
  if (reliable != is_reliable(other)) return reliable;
  if (!reliable) return best.confidence() > other.confidence();
  const bool at_one_pose = same_pose(context, best, other);
  return at_one_pose ? best.significance > other.significance : best.evidence() > other.evidence();
}

}  // namespace warpalign::detail
