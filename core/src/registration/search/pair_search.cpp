// Finds the transform between two images.
#include "registration/search/pair_search.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/registration_result.hpp"
#include "registration/pair/search_limits.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace warpalign::detail {

namespace {

// Of the padded frames on which the first spectra are taken.
constexpr std::int64_t log_polar_side = 128;
constexpr std::size_t log_polar_hypotheses = 6;

// Things of another contrast resemble each other by their grey levels too, but weakly, and not
// exactly at the right place. Where grey levels end with less confidence than the first of these,
// or correlate less than pictures of one contrast do, directions of edges are asked about their
// place, and with less confidence than the second, about all places.
constexpr double certain_confidence = 0.99;
constexpr double fair_confidence = 0.9;
constexpr double clear_correlation = 0.5;

// Where directions lead to a place that is certain and grey levels have even less confidence than
// this there, they have nothing in common. Those of one contrast have more even where a plane is
// turned away and no similarity brings it all into agreement.
constexpr double doubtful_confidence = 0.01;

// After so many pairs in a row that the first spectra did not settle, the next one is expected not
// to be settled by them either.
constexpr int pairs_that_tell = 2;

RegistrationOptions options_of_search(RegistrationOptions options) {
  if (is_richer(options.motion)) options.motion = Motion::similarity;
  return options;
}

}  // namespace

PairSearch::PairSearch(const Device& device, const RegistrationOptions& options, bool parts_ahead)
    : model_(options.motion),
      options_(options_of_search(options)),
      ones_(device, max_searched_levels),
      translation_searches_(device, ones_),
      log_polar_(device, log_polar_side, options_, translation_searches_),
      wide_log_polar_(device, parts_ahead, options_),
      grid_(device, parts_ahead, options_, parts_ahead),
      directions_(device, parts_ahead, options.motion, options_, parts_ahead),
      fields_(device, ones_),
      judge_(device, options.motion, options_, ones_, parts_ahead),
      features_(device, parts_ahead, parts_ahead),
      in_frame_(device) {}

// Tries the first candidate, which mostly suffices, and then all others together: a fit by itself
// leaves most of a device idle.
bool PairSearch::try_first_alone(const PairWork& work, std::span<const Candidate> shifted) {
  if (shifted.empty()) return false;
  return add_candidates(work, shifted.first(1), RefineFrom::log_polar) ||
         (shifted.size() > 1 && add_candidates(work, shifted.subspan(1), RefineFrom::log_polar));
}

// Refines those places coarsely that are not known already. Returns true if one is significant
// enough to be accepted.
bool PairSearch::add_candidates(const PairWork& work, std::span<const Candidate> found,
                                RefineFrom from) {
  judge_.add(work, found, from, candidates_);
  return options_.candidates == 1 && options_.search != Effort::thorough &&
         std::any_of(candidates_.begin(), candidates_.end(),
                     [&](Candidate& candidate) { return is_accepted(work, candidate); });
}

bool PairSearch::is_accepted(const PairWork& work, Candidate& candidate) {
  if (candidate.significance < accepted_significance) return false;
  if (!candidate.beyond_doubt()) judge_.test(work, {&candidate, 1}, places_);
  return is_convincing(candidate);
}

bool PairSearch::try_grid(const PairWork& work) {
  tried_.add(Generator::grid);
  return add_candidates(work, judge_.starts_at(work, grid_.find(work)), RefineFrom::grid);
}

// Whether to try more: where nothing is convincing yet, or where all is to be tried.
bool PairSearch::goes_on(const PairWork& work, bool accepted) {
  if (options_.search == Effort::fast) return false;
  return options_.search == Effort::thorough || (!accepted && !has_convincing(work));
}

// Log-polar spectra, and where these lead to nothing convincing the grid. Returns true where a
// candidate is significant enough to be accepted.
bool PairSearch::search_grey_levels_coarsely(const PairWork& work) {
  tried_.add(shifts_only() ? Generator::shifts : Generator::log_polar);
  if (!shifts_only() && expects_to_go_on()) begin_parts(work);
  log_polar_.begin(work);
  const bool settled = try_first_alone(work, log_polar_.first(work));
  pairs_that_went_on_ = settled ? 0 : std::min(pairs_that_went_on_ + 1, pairs_that_tell);
  if (settled) return true;
  if (shifts_only()) return false;
  begin_parts(work);
  log_polar_.add_other_bases(work);
  const bool accepted =
      try_first_alone(work, log_polar_.first(work)) ||
      add_candidates(work, log_polar_.others(work, log_polar_hypotheses), RefineFrom::log_polar);
  if (!goes_on(work, accepted)) return accepted;
  return try_grid(work);
}

// Many more hypotheses, of finer spectra. The grid has mostly found what these find.
void PairSearch::search_grey_levels_finely(const PairWork& work) {
  if (try_first_alone(work, wide_log_polar_.find(work))) return;
  static_cast<void>(add_candidates(work, wide_log_polar_.find(work, 1), RefineFrom::log_polar));
}

void PairSearch::search_grey_levels(const PairWork& work) {
  const bool accepted = search_grey_levels_coarsely(work);
  bool concluded = false;
  if (!shifts_only() && goes_on(work, accepted)) {
    if (tries_both()) {
      concluded = directions_.is_at_work();
      if (concluded) conclude_aside(work);
      settled_by_directions_ = are_settled_by_directions(work);
      if (settled_by_directions_) return;
    }
    if (options_.search == Effort::thorough) search_grey_levels_finely(work);
  }
  if (concluded) return take_conclusion();
  if (!accepted) static_cast<void>(has_convincing(work));
  conclude(work);
}

// Concludes what grey levels have found while the grid by directions is still being searched, and
// keeps that for take_conclusion(): where directions settle the pair, nobody must know of it.
void PairSearch::conclude_aside(const PairWork& work) {
  const Generators tried = tried_;
  by_grey_levels_ = candidates_;
  static_cast<void>(has_convincing(work));
  conclude(work);
  conclusion_.swap(candidates_);
  candidates_ = by_grey_levels_;
  tried_ = tried;
  concluded_with_windows_ = judge_.models().tried_windows();
}

void PairSearch::take_conclusion() {
  candidates_.swap(conclusion_);
  if (concluded_with_windows_) tried_.add(Generator::windows);
}

// Whether directions of edges are certain of a place at which grey levels have nothing in common:
// what grey levels would still be tried on is in vain then. Where they are not, what they found is
// kept.
bool PairSearch::are_settled_by_directions(const PairWork& work) {
  by_grey_levels_ = candidates_;
  search_all_directions(work);
  if (ends_with(certain_confidence) && !are_alike_at(work, candidates_.front())) {
    places_ *= chances_of_both;
    return true;
  }
  candidates_ = by_grey_levels_;
  return false;
}

// Whether grey levels, too, resemble each other at a place that directions have led to.
bool PairSearch::are_alike_at(const PairWork& work, const Candidate& by_directions) {
  Candidate place;
  place.matrix = by_directions.matrix;
  place = judge_.refined(work, place, RefineFrom::log_polar);
  judge_.test(work, {&place, 1}, chances_of_both * places_);
  return place.confidence() >= doubtful_confidence;
}

void PairSearch::conclude(const PairWork& work) {
  judge_.conclude(work, candidates_, places_);
  if (judge_.models().tried_windows()) tried_.add(Generator::windows);
}

// By directions of edges. The candidates by grey levels stay where this leads to nothing reliable,
// or to nothing better, unless only directions are asked for.
void PairSearch::search_directions(const PairWork& grey_levels) {
  const PairWork work = by_directions_of(grey_levels);
  by_grey_levels_ = candidates_;
  const bool fair = ends_with(fair_confidence);
  if (is_reliable(by_grey_levels_)) compare_directions_at(work, by_grey_levels_.front());
  const bool better = ends_better_than(work, by_grey_levels_);
  if (!fair && !(better && ends_with(certain_confidence))) search_all_directions(grey_levels);
  const bool either = options_.modality == Modality::automatic;
  if (either && !by_grey_levels_.empty() && !ends_better_than(work, by_grey_levels_)) {
    candidates_ = by_grey_levels_;
  }
}

// The same work by directions of edges.
PairWork PairSearch::by_directions_of(const PairWork& grey_levels) {
  PairWork work = grey_levels;
  work.fields = &fields_;
  tried_.add(Generator::gradient_field);
  return work;
}

void PairSearch::search_all_directions(const PairWork& grey_levels) {
  tried_.add(Generator::gradient_field);
  const std::span<const Candidate> found = directions_.find(grey_levels);
  candidates_.assign(found.begin(), found.end());
}

// What directions say of a place that grey levels have led to.
void PairSearch::compare_directions_at(const PairWork& work, const Candidate& by_grey_levels) {
  Candidate place;
  place.proposed_by = by_grey_levels.proposed_by;
  place.by_gradients = true;
  place.matrix = by_grey_levels.matrix;
  candidates_.clear();
  place = judge_.refined(work, place, RefineFrom::grid);
  if (judge_.is_allowed(work, place)) candidates_.push_back(place);
  judge_.test(work, candidates_, places_);
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
  const bool at_one_place = same_location(work, best, other);
  return at_one_place ? best.significance > other.significance : best.evidence() > other.evidence();
}

bool PairSearch::is_settled_by_grey_levels() const {
  return ends_with(certain_confidence) && candidates_.front().correlation >= clear_correlation;
}

bool PairSearch::ends_with(double confidence) const {
  return is_reliable(candidates_) && candidates_.front().confidence() >= confidence;
}

class PairSearch::Parts {
 public:
  explicit Parts(PairSearch& search) : search_(search) { ++running; }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    search_.grid_.drop();
    search_.wide_log_polar_.drop();
    search_.directions_.drop();
    search_.judge_.models().drop_parts();
    search_.features_.drop();
    --running;
  }
  /// Where several pairs are searched at the same time, the device has enough to do.
  [[nodiscard]] static bool have_room() { return running == 1; }

 private:
  static std::atomic<int> running;
  PairSearch& search_;
};

std::atomic<int> PairSearch::Parts::running{0};

// A pair that its first spectra settle needs no parts, and would wait for those that were begun.
bool PairSearch::expects_to_go_on() const { return pairs_that_went_on_ >= pairs_that_tell; }

void PairSearch::begin_parts(const PairWork& work) {
  if (begun_parts_ || options_.search == Effort::fast || !Parts::have_room()) return;
  begun_parts_ = true;
  grid_.begin(work);
  wide_log_polar_.begin(work);
  if (options_.modality == Modality::automatic) directions_.begin(work);
  judge_.models().begin_parts(work);
  if (wants_features()) features_.begin(work);
}

std::span<const Candidate> PairSearch::run(Stream& stream, StageClock& clock,
                                           ImagePyramid& reference, ImagePyramid& moving) {
  const Parts parts(*this);
  PairWork work{stream, clock, reference, moving};
  work.is_alone = Parts::have_room();
  candidates_.clear();
  tried_.clear();
  places_ = places_searched(options_, work);
  settled_by_directions_ = begun_parts_ = false;
  fields_.begin_pair();
  if (options_.modality != Modality::other) search_grey_levels(work);
  const bool either = options_.modality == Modality::automatic && options_.search != Effort::fast;
  const bool settled = settled_by_directions_ || is_settled_by_grey_levels();
  if (options_.modality == Modality::other || (either && !settled)) {
    // After grey levels, directions are a second chance for every wrong place.
    if (either) places_ *= chances_of_both;
    search_directions(work);
  }
  if (wants_features() && !is_reliable(candidates_)) search_features(work);
  return candidates_;
}

bool PairSearch::shifts_only() const { return options_.motion == Motion::translation; }

// Whether directions may come before what takes long by grey levels.
bool PairSearch::tries_both() const {
  return options_.modality == Modality::automatic && options_.search == Effort::standard;
}

bool PairSearch::wants_features() const {
  const bool may_be_homography = model_ == Motion::homography || model_ == Motion::automatic;
  return options_.search != Effort::fast && may_be_homography &&
         options_.modality != Modality::other;
}

// Where a plane is seen from so far aside that nothing else finds it, local features may. Each pair
// of simulated views is another chance for every wrong place.
void PairSearch::search_features(const PairWork& work) {
  tried_.add(Generator::features);
  places_ *= compared_views();
  std::optional<Candidate> best;
  for (const Homography& start : features_.find(work)) {
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
  const auto in_frame = in_frame_.show(work, start);
  if (!in_frame) return std::nullopt;
  auto candidate = judge_.models().fit_near(*in_frame, Homography{});
  if (!candidate) return std::nullopt;
  candidate->proposed_by = Generator::features;
  judge_.test(*in_frame, {&*candidate, 1}, places_);
  candidate->richer = scaled(start * candidate->richer);
  if (!is_regular(candidate->richer, reference)) return std::nullopt;
  candidate->matrix = registered(Motion::homography, candidate->richer, reference, moving)
                          .similarity.matrix(reference, moving);
  if (!judge_.is_allowed(work, *candidate)) return std::nullopt;
  CandidateJudge::set_rival(work, candidates_, *candidate);
  return candidate;
}

bool PairSearch::has_convincing(const PairWork& work) {
  return judge_.has_convincing(work, candidates_, places_);
}

}  // namespace warpalign::detail
