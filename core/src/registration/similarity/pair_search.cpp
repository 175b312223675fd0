// Finds the transform between two images.
#include "registration/similarity/pair_search.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/registration_result.hpp"
#include "registration/short_list.hpp"
#include "registration/similarity/base_scales.hpp"
#include "registration/similarity/search_limits.hpp"
#include "registration/similarity/view_features.hpp"
#include "registration/transform_distance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

// Sides of the padded frames. The second rotation-scale search runs where the first one finds
// nothing convincing.
constexpr std::int64_t first_search_side = 128;
constexpr std::int64_t second_search_side = 256;
constexpr std::int64_t translation_side = 512;
// How many shifts are looked for at once where many are, in 70 MB of memory. About as many
// hypotheses have the same base scale.
constexpr std::int64_t shifts_at_once = 6;
constexpr std::size_t hypotheses_per_crop = 2;
// Images of one size have 36 crops at most. A small image has thousands of its size in a large one,
// and the highest of so many spectra's peaks is one of chance: the grid, whose cost does not depend
// on the sizes, looks for it.
constexpr std::int64_t max_crops = 256;
// How many hypotheses of each search are tried. In small or noisy pairs the right one is far down
// the list.
constexpr std::size_t first_search_hypotheses = 6;
constexpr std::size_t second_search_hypotheses = 40;
constexpr std::size_t grid_candidates = 8;
constexpr std::size_t grid_candidates_if_thorough = 16;

// How many candidates, the most significant ones, are compared with chance.
constexpr std::size_t max_tested = 6;
// Of the larger side: places farther apart than this do not show the same content.
constexpr double rival_distance = 0.1;

// Things of another contrast resemble each other by their grey levels too, but weakly, and not
// exactly at the right place. Where grey levels end with less confidence than the first of these,
// or correlate less than pictures of one contrast do, directions of edges are asked about their
// place, and with less confidence than the second, about all places.
constexpr double certain_confidence = 0.99;
constexpr double fair_confidence = 0.9;
constexpr double clear_correlation = 0.5;

// Unrelated images have shift scores below this.
constexpr double min_shift_score = 4;

RegistrationOptions options_of_search(RegistrationOptions options) {
  if (is_richer(options.motion)) options.motion = Motion::similarity;
  return options;
}

bool same_location(const Candidate& a, const Candidate& b, const Shape& reference,
                   const Shape& moving) {
  return corner_distance(a.matrix, b.matrix, reference) < 0.05 * larger_side(moving);
}

// What is beyond doubt comes first, then what was compared with chance: the others are less
// significant.
bool is_more_probable(const Candidate& a, const Candidate& b) {
  if (a.beyond_doubt() || b.beyond_doubt()) return a.significance > b.significance;
  if (a.chance && b.chance) return a.chance->deviations > b.chance->deviations;
  if (a.chance || b.chance) return a.chance.has_value();
  return a.significance > b.significance;
}

// How many settings a place has: two parameters more, or four, have as many everywhere, and windows
// are looked for by their grey levels and by their edges.
double settings_of(const Candidate& candidate) {
  if (candidate.motion == Motion::affine) return 1e2;
  if (candidate.motion != Motion::homography) return 1;
  return candidate.proposed_by == Generator::windows ? 2e4 : 1e4;
}

template <class Candidates>
void sort_by(Candidates& candidates, double Candidate::*score) {
  sort_short_list(candidates,
                  [&](const Candidate& a, const Candidate& b) { return a.*score > b.*score; });
}

}  // namespace

PairSearch::PairSearch(const Device& device, const RegistrationOptions& options)
    : device_(device),
      model_(options.motion),
      options_(options_of_search(options)),
      first_search_(device, first_search_side, options_),
      ones_(device, max_searched_levels),
      translation_search_(device, translation_side, ones_),
      fields_(device, ones_),
      fitter_(device),
      coarse_refinement_(options_.motion, ones_, fitter_),
      model_choice_(device, options.motion, options_, ones_, fitter_) {}

void PairSearch::add_hypotheses_at(const PairWork& work, RotationScaleSearch& search, double base) {
  if (options_.motion == Motion::translation) {
    hypotheses_.push_back({RotationScalePeak{}, 1});
    return;
  }
  const bool scales = options_.motion == Motion::similarity;
  RotationScaleLimits limits = RotationScaleLimits::of(options_);
  limits.min_scale = scales ? std::max(options_.min_scale / base, 1 / farthest_from_base) : 0.97;
  limits.max_scale = scales ? std::min(options_.max_scale / base, farthest_from_base) : 1.03;
  if (limits.min_scale > limits.max_scale) return;
  const Spacings spacings =
      rotation_scale_spacings(base, work.reference.shape(), work.moving.shape(), search.side());
  // The image in which the content appears larger is used whole, and the other one in crops of its
  // size.
  const bool whole_is_reference = base < 1;
  ImagePyramid& whole = whole_is_reference ? work.reference : work.moving;
  ImagePyramid& cropped = whole_is_reference ? work.moving : work.reference;
  PyramidLevel& whole_level = whole.level(
      work.stream, work.clock, {whole_is_reference ? spacings.reference : spacings.moving});
  PyramidLevel& cropped_level = cropped.level(
      work.stream, work.clock, {whole_is_reference ? spacings.moving : spacings.reference});
  const Shape& available = cropped_level.shape();
  const Shape crop{std::min({available.width, whole_level.shape().width, search.side()}),
                   std::min({available.height, whole_level.shape().height, search.side()}), 1};
  const Shape shape = base == 1 ? available : crop;
  if (crops_of(available, shape) > max_crops) return;
  for (RotationScalePeak peak :
       search.find(work.stream, work.clock, whole, whole_level, cropped, cropped_level, shape,
                   whole_is_reference, limits, hypotheses_per_crop)) {
    peak.scale = scales ? peak.scale * base : 1;
    hypotheses_.push_back({peak, base});
  }
}

// Adds the hypotheses at the other base scales to those at base 1, sorts hypotheses_ by height and
// removes those that nearly equal a higher one.
void PairSearch::add_hypotheses_at_other_bases(const PairWork& work, RotationScaleSearch& search) {
  for (const double base : base_scales) {
    if (base == 1 || options_.motion != Motion::similarity) continue;
    add_hypotheses_at(work, search, base);
  }
  sort_short_list(hypotheses_, [](const Hypothesis& a, const Hypothesis& b) {
    return a.peak.height > b.peak.height;
  });
  auto distinct = hypotheses_.begin();
  for (const Hypothesis& hypothesis : hypotheses_) {
    const bool known = std::any_of(hypotheses_.begin(), distinct, [&](const Hypothesis& other) {
      return are_the_same(hypothesis.peak, other.peak);
    });
    if (!known) *distinct++ = hypothesis;
  }
  hypotheses_.erase(distinct, hypotheses_.end());
}

// Where the refinement begins for a place that a search has found: rotations about the centres have
// no shift, whatever shift correlates best.
Affine PairSearch::start_of(const PairWork& work, const Affine& found) const {
  if (options_.motion != Motion::rotation) return found;
  const Shape& reference = work.reference.shape();
  const Shape& moving = work.moving.shape();
  const double degrees = Similarity::of(found, reference, moving).rotation_deg;
  return Similarity{degrees, 1, {}}.matrix(reference, moving);
}

// For one hypothesis, or for many.
TranslationSearch& PairSearch::translation_search_for(std::size_t hypotheses) {
  const std::int64_t at_once =
      TranslationSearch::batch_on(device_, translation_side, shifts_at_once);
  if (hypotheses <= 1 || at_once == 1) return translation_search_;
  if (!many_translations_) many_translations_.emplace(device_, translation_side, ones_, at_once);
  return *many_translations_;
}

// Sets shifted_ to the best shifts of hypotheses and of their opposites, the rotations by 180
// degrees more; the best of all first.
void PairSearch::find_shifts(const PairWork& work, std::span<Hypothesis> hypotheses) {
  // Those of one base share the reference's transform.
  sort_short_list(hypotheses,
                  [](const Hypothesis& a, const Hypothesis& b) { return a.base < b.base; });
  known_.clear();
  for (const Hypothesis& hypothesis : hypotheses) {
    known_.push_back({{&hypothesis.peak.rotation_deg, 1},
                      hypothesis.peak.scale,
                      hypothesis.base,
                      options_.max_shift});
  }
  const auto peaks = translation_search_for(hypotheses.size())
                         .find(work.stream, work.clock, work.reference, work.moving, known_);
  shifted_.clear();
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    add_shifts(work, hypotheses[i].peak.rotation_deg, peaks[i]);
  }
  sort_by(shifted_, &Candidate::shift_score);
}

void PairSearch::add_shifts(const PairWork& work, double rotation_deg,
                            const TranslationSearch::Peaks& peaks) {
  const RotationScaleLimits angles = RotationScaleLimits::of(options_);
  for (std::size_t opposite = 0; opposite < 2; ++opposite) {
    if (!angles.allows_angle(rotation_deg + (opposite == 1 ? 180 : 0))) continue;
    if (options_.motion == Motion::translation && opposite == 1) continue;
    Candidate candidate;
    if (options_.motion == Motion::translation) candidate.proposed_by = Generator::shifts;
    candidate.shift_score = peaks[opposite].score;
    candidate.matrix = start_of(work, peaks[opposite].matrix);
    shifted_.push_back(candidate);
  }
}

// Tries the first hypothesis, which mostly suffices: of the two rotations that it allows, the one
// that scores less only if the other one is not accepted.
bool PairSearch::try_first_hypothesis(const PairWork& work) {
  if (hypotheses_.empty()) return false;
  find_shifts(work, std::span(hypotheses_).first(1));
  return std::any_of(shifted_.begin(), shifted_.end(), [&](const Candidate& candidate) {
    return add_candidates(work, {&candidate, 1}, RefineFrom::log_polar);
  });
}

// Tries the first hypothesis and then, all at once, the others up to `maximum`. Returns true where
// a candidate is significant enough to be accepted.
bool PairSearch::try_hypotheses(const PairWork& work, std::size_t maximum) {
  if (try_first_hypothesis(work)) return true;
  const std::size_t count = std::min(maximum, hypotheses_.size());
  find_shifts(work, std::span(hypotheses_).first(count).subspan(std::min<std::size_t>(count, 1)));
  return add_candidates(work, shifted_, RefineFrom::log_polar);
}

// Refines those places coarsely that are not known already. Returns true if one is significant
// enough to be accepted.
bool PairSearch::add_candidates(const PairWork& work, std::span<const Candidate> found,
                                RefineFrom from) {
  const auto is_in = [&](const std::vector<Candidate>& list, const Candidate& candidate) {
    return std::any_of(list.begin(), list.end(), [&](const Candidate& other) {
      return same_location(candidate, other, work.reference.shape(), work.moving.shape());
    });
  };
  new_places_.clear();
  for (const Candidate& candidate : found) {
    if (candidate.shift_score < min_shift_score) continue;
    if (!is_in(candidates_, candidate) && !is_in(new_places_, candidate)) {
      new_places_.push_back(candidate);
    }
  }
  coarse_refinement_.refine(work, new_places_, from);
  for (const Candidate& candidate : new_places_) add_refined(work, candidate);
  return options_.candidates == 1 && options_.search != Effort::thorough &&
         work.fields == nullptr &&
         std::any_of(candidates_.begin(), candidates_.end(),
                     [&](Candidate& candidate) { return is_accepted(work, candidate); });
}

bool PairSearch::is_accepted(const PairWork& work, Candidate& candidate) {
  if (candidate.significance < accepted_significance) return false;
  if (!candidate.beyond_doubt()) test(work, {&candidate, 1});
  return is_convincing(candidate);
}

// Where two starts led to one place, the more significant result counts.
void PairSearch::add_refined(const PairWork& work, const Candidate& candidate) {
  if (!within_limits(options_, work, candidate.matrix)) return;
  const auto same = std::find_if(candidates_.begin(), candidates_.end(), [&](const auto& other) {
    return same_location(candidate, other, work.reference.shape(), work.moving.shape());
  });
  if (same == candidates_.end()) {
    candidates_.push_back(candidate);
  } else if (candidate.significance > same->significance) {
    *same = candidate;
  }
}

GridSteps PairSearch::grid_steps() const {
  return options_.search == Effort::thorough ? fine_grid : standard_grid;
}

bool PairSearch::try_grid(const PairWork& work, GridSearch& search) {
  const Generator generator = work.fields != nullptr ? Generator::gradient_field : Generator::grid;
  const std::size_t maximum =
      options_.search == Effort::thorough ? grid_candidates_if_thorough : grid_candidates;
  tried_.add(generator);
  shifted_.clear();
  for (const TranslationPeak& peak : search.find(work, maximum)) {
    Candidate candidate;
    candidate.proposed_by = generator;
    candidate.by_gradients = work.fields != nullptr;
    candidate.matrix = start_of(work, peak.matrix);
    candidate.shift_score = peak.score;
    shifted_.push_back(candidate);
  }
  return add_candidates(work, shifted_, RefineFrom::grid);
}

// Whether to try more: where nothing is convincing yet, or where all is to be tried.
bool PairSearch::goes_on(const PairWork& work, bool accepted) {
  if (options_.search == Effort::fast) return false;
  return options_.search == Effort::thorough || (!accepted && !has_convincing(work));
}

void PairSearch::search_grey_levels(const PairWork& work) {
  const bool shifts_only = options_.motion == Motion::translation;
  tried_.add(shifts_only ? Generator::shifts : Generator::log_polar);
  hypotheses_.clear();
  add_hypotheses_at(work, first_search_, 1);
  bool accepted = try_first_hypothesis(work);
  if (!accepted && !shifts_only) {
    add_hypotheses_at_other_bases(work, first_search_);
    accepted = try_hypotheses(work, first_search_hypotheses);
    if (goes_on(work, accepted)) {
      if (!grid_search_) grid_search_.emplace(device_, options_, ones_, grid_steps());
      accepted = try_grid(work, *grid_search_);
    }
    if (goes_on(work, accepted)) {
      if (!second_search_) second_search_.emplace(device_, second_search_side, options_);
      hypotheses_.clear();
      add_hypotheses_at(work, *second_search_, 1);
      add_hypotheses_at_other_bases(work, *second_search_);
      try_hypotheses(work, second_search_hypotheses);
    }
  }
  if (!accepted) static_cast<void>(has_convincing(work));
  conclude(work);
}

// Puts the best candidate first, with the model that is asked for, and compares it with chance.
void PairSearch::conclude(const PairWork& work) {
  sort_short_list(candidates_, is_more_probable);
  model_choice_.choose(work, candidates_);
  if (model_choice_.tried_windows()) tried_.add(Generator::windows);
  if (!candidates_.empty()) compare_with_chance(work, candidates_.front());
}

// By directions of edges. The candidates by grey levels stay where this leads to nothing reliable,
// or to nothing better, unless only directions are asked for.
void PairSearch::search_directions(const PairWork& grey_levels) {
  PairWork work = grey_levels;
  work.fields = &fields_;
  fields_.begin_pair();
  tried_.add(Generator::gradient_field);
  by_grey_levels_ = candidates_;
  const bool fair = ends_with(fair_confidence);
  if (is_reliable(by_grey_levels_)) compare_directions_at(work, by_grey_levels_.front());
  const bool better = ends_better_than(work, by_grey_levels_);
  if (!fair && !(better && ends_with(certain_confidence))) search_all_directions(work);
  const bool either = options_.modality == Modality::automatic;
  if (either && !by_grey_levels_.empty() && !ends_better_than(work, by_grey_levels_)) {
    candidates_ = by_grey_levels_;
  }
}

// Edges lie on one another only nearer to the right place than grey levels correlate: from a step
// of the standard grid a refinement often ends at a wrong one.
void PairSearch::search_all_directions(const PairWork& work) {
  candidates_.clear();
  if (!direction_search_) {
    direction_search_.emplace(device_, options_, ones_, fine_grid, &fields_);
  }
  static_cast<void>(try_grid(work, *direction_search_));
  test(work, candidates_);
  conclude(work);
}

// What directions say of a place that grey levels have led to.
void PairSearch::compare_directions_at(const PairWork& work, const Candidate& by_grey_levels) {
  Candidate place;
  place.proposed_by = by_grey_levels.proposed_by;
  place.by_gradients = true;
  place.matrix = by_grey_levels.matrix;
  new_places_.assign(1, place);
  coarse_refinement_.refine(work, new_places_, RefineFrom::grid);
  candidates_.clear();
  add_refined(work, new_places_.front());
  test(work, candidates_);
  conclude(work);
}

// Whether the first candidate will be reliable in the registrar's eyes.
bool PairSearch::is_reliable(const std::vector<Candidate>& candidates) const {
  return !candidates.empty() && is_reliable(candidates.front());
}

bool PairSearch::is_reliable(const Candidate& best) const {
  const bool fitted = !is_richer(model_) || model_ == Motion::automatic || best.motion == model_;
  return is_convincing(best) && fitted && (best.refined || !options_.refine);
}

// Of two results at one place the one is better determined, and more exact, that is more
// significant; elsewhere the one counts that is farther from chance.
bool PairSearch::ends_better_than(const PairWork& work,
                                  const std::vector<Candidate>& others) const {
  if (candidates_.empty() || others.empty()) return !candidates_.empty();
  const Candidate& best = candidates_.front();
  const Candidate& other = others.front();
  const bool reliable = is_reliable(best);
  if (reliable != is_reliable(other)) return reliable;
  if (!reliable) return best.confidence() > other.confidence();
  const bool at_one_place = same_location(best, other, work.reference.shape(), work.moving.shape());
  return at_one_place ? best.significance > other.significance : best.evidence() > other.evidence();
}

bool PairSearch::is_settled_by_grey_levels() const {
  return ends_with(certain_confidence) && candidates_.front().correlation >= clear_correlation;
}

bool PairSearch::ends_with(double confidence) const {
  return is_reliable(candidates_) && candidates_.front().confidence() >= confidence;
}

std::span<const Candidate> PairSearch::run(Stream& stream, StageClock& clock,
                                           ImagePyramid& reference, ImagePyramid& moving) {
  const PairWork work{stream, clock, reference, moving};
  candidates_.clear();
  tried_.clear();
  places_ = places_searched(options_, work);
  if (options_.modality != Modality::other) search_grey_levels(work);
  const bool either = options_.modality == Modality::automatic && options_.search != Effort::fast;
  if (options_.modality == Modality::other || (either && !is_settled_by_grey_levels())) {
    // After grey levels, directions are a second chance for every wrong place.
    if (either) places_ *= 2;
    search_directions(work);
  }
  if (wants_features() && !is_reliable(candidates_)) search_features(work);
  return candidates_;
}

bool PairSearch::wants_features() const {
  const bool may_be_homography = model_ == Motion::homography || model_ == Motion::automatic;
  return options_.search == Effort::thorough && may_be_homography &&
         options_.modality != Modality::other;
}

// Where a plane is seen from so far aside that nothing else finds it, local features may. Each pair
// of simulated views is another chance for every wrong place.
void PairSearch::search_features(const PairWork& work) {
  tried_.add(Generator::features);
  places_ *= compared_views();
  if (!feature_search_) feature_search_.emplace(device_);
  std::optional<Candidate> best;
  for (const Homography& start : feature_search_->find(work)) {
    const auto candidate = fit_near(work, start);
    if (!candidate || (best && best->evidence() >= candidate->evidence())) continue;
    best = candidate;
  }
  if (best && is_reliable(*best)) candidates_.insert(candidates_.begin(), *best);
}

// Fits a homography near one that features agree on, and compares it with chance and with places
// elsewhere.
std::optional<Candidate> PairSearch::fit_near(const PairWork& work, const Homography& start) {
  const Shape& reference = work.reference.shape();
  const Shape& moving = work.moving.shape();
  const auto in_frame = feature_search_->in_frame(work, start);
  if (!in_frame) return std::nullopt;
  auto candidate = model_choice_.fit_near(*in_frame, Homography{});
  if (!candidate) return std::nullopt;
  candidate->proposed_by = Generator::features;
  test(*in_frame, {&*candidate, 1});
  candidate->richer = scaled(start * candidate->richer);
  if (!is_regular(candidate->richer, reference)) return std::nullopt;
  candidate->matrix = registered(Motion::homography, candidate->richer, reference, moving)
                          .similarity.matrix(reference, moving);
  if (!within_limits(options_, work, candidate->matrix)) return std::nullopt;
  set_rival(work, *candidate);
  return candidate;
}

// Tests the most significant candidates, unless one is beyond doubt, and says whether one is
// convincing.
bool PairSearch::has_convincing(const PairWork& work) {
  sort_by(candidates_, &Candidate::significance);
  if (candidates_.empty()) return false;
  if (candidates_.front().beyond_doubt()) return true;
  const std::size_t count = std::min(max_tested, candidates_.size());
  test(work, std::span(candidates_).first(count));
  return std::any_of(candidates_.begin(), candidates_.end(), is_convincing);
}

void PairSearch::test(const PairWork& work, std::span<Candidate> candidates) {
  untested_.clear();
  for (Candidate& candidate : candidates) {
    if (!candidate.chance) untested_.push_back(&candidate);
  }
  if (untested_.empty()) return;
  if (!chance_test_) chance_test_.emplace(device_, ones_);
  const std::span<const double> deviations = chance_test_->deviations(work, untested_);
  for (std::size_t i = 0; i < untested_.size(); ++i) {
    Candidate& candidate = *untested_[i];
    candidate.chance = {deviations[i], deviations_by_chance(places_ * settings_of(candidate)), 0};
  }
}

// Tests the candidate that was chosen, which may have a motion of its own by now, and compares it
// with the best of those elsewhere.
void PairSearch::compare_with_chance(const PairWork& work, Candidate& chosen) {
  if (chosen.beyond_doubt()) return;
  if (chosen.motion != Motion::similarity) chosen.chance.reset();
  test(work, {&chosen, 1});
  set_rival(work, chosen);
}

void PairSearch::set_rival(const PairWork& work, Candidate& chosen) const {
  const double elsewhere =
      rival_distance * std::max(larger_side(work.moving.shape()),
                                scale_of(chosen.matrix) * larger_side(work.reference.shape()));
  double best = 0;
  for (const Candidate& other : candidates_) {
    if (&other == &chosen || !other.chance) continue;
    if (corner_distance(chosen.matrix, other.matrix, work.reference.shape()) < elsewhere) continue;
    best = std::max(best, other.chance->deviations);
  }
  chosen.chance->rival = chosen.chance->deviations > 0 ? best / chosen.chance->deviations : 0;
}

}  // namespace warpalign::detail
