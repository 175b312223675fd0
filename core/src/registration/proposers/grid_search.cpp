// An exhaustive search over rotation and scale at low resolution.
#include "registration/proposers/grid_search.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/pair/motion_model.hpp"
#include "registration/pair/rotation_scale_limits.hpp"
#include "registration/pyramid/base_scales.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpalign::detail {

namespace {

// Rotations compared at once: enough to fill a GPU, in 90 MB of memory at most.
constexpr std::size_t max_on_small = 64;

// On large frames, where mostly fewer rotations of a scale are tried.
constexpr std::int64_t batch_on_large = 12;
constexpr std::int64_t batch_of_directions = 24;

// How many distinct places are tried again, with the rotations to both sides of them: those at
// moderate scales on large frames, those under strong zoom between the wide steps.
constexpr std::size_t moderate_again = 24;
constexpr std::size_t strong_again = 12;

// By directions of edges, how many of the places on small frames are tried again on large ones,
// and how many of each scale at least. Fewer rotations and scales than the first are tried on large
// frames alone.
constexpr std::size_t promising = 100;
constexpr std::size_t promising_of_scale = 2;

// Of fewer scores at a scale, most may be near the right rotation, and their median tells nothing.
constexpr std::size_t min_for_median = 20;
// So many scores, or somewhat more, tell on large frames what is typical at a scale, and at that
// beside it.
constexpr std::size_t scores_of_sample = 24;
constexpr std::size_t sampled_every = 2;

// By directions of edges, how many places are tried again half a step beside them.
constexpr std::size_t directions_again = 24;

// Places closer than this, in units of the moving image's larger side, count as one.
constexpr double distinct = 0.08;

// Stronger zooms count as strong. The part in common is then less than a third as wide as the wider
// image, and a rotation moves its edge so much less that steps are twice as wide at first.
constexpr double strong_zoom = 3.1;
constexpr double wider_steps = 2;

bool is_strong(double scale) { return std::max(scale, 1 / scale) > strong_zoom; }

std::vector<double> all_scales(const RegistrationOptions& options, double step) {
  if (searched_motion(options.motion) != Motion::similarity) return {1};
  std::vector<double> scales;
  const auto exponent = [step](double scale) { return std::log(scale) / std::log(step); };
  const auto first = static_cast<int>(std::ceil(exponent(options.min_scale) - 0.5));
  const auto last = static_cast<int>(std::floor(exponent(options.max_scale) + 0.5));
  for (int i = first; i <= last; ++i) scales.push_back(std::pow(step, i));
  return scales;
}

std::vector<double> scales_of(const RegistrationOptions& options, double step, bool strong) {
  std::vector<double> scales = all_scales(options, step);
  std::erase_if(scales, [strong](double scale) { return is_strong(scale) != strong; });
  return scales;
}

// Batches of equal size, none above the maximum.
std::int64_t batch_of(std::size_t rotations, std::size_t most) {
  const std::size_t batches = (rotations + most - 1) / most;
  return static_cast<std::int64_t>((rotations + batches - 1) / batches);
}

}  // namespace

GridSearch::GridSearch(const Device& device, const RegistrationOptions& options,
                       const GridSteps& steps, SignalKind signal)
    : options_(options),
      scale_step_(steps.scale),
      moderate_(scales_of(options, steps.scale, false)),
      strong_(scales_of(options, steps.scale, true)),
      scales_(all_scales(options, steps.scale)),
      rotations_(rotations_of(options, steps.rotation)),
      sample_(sample_of(options, rotations_)),
      of_strong_(rotations_of(options, wider_steps * steps.rotation)),
      device_(device),
      steps_(steps),
      batches_{TranslationSearch::batch_on(device, steps.small_side,
                                           batch_of(rotations_.degrees.size(), max_on_small)),
               TranslationSearch::batch_on(
                   device, steps.large_side,
                   signal == SignalKind::orientation ? batch_of_directions : batch_on_large)},
      frames_(device, steps, batches_, signal),
      signal_(signal) {}

GridSearch::Rotations GridSearch::rotations_of(const RegistrationOptions& options, double step) {
  if (options.motion == Motion::translation) return {step, {0}};
  return {step, rotations_within(RotationScaleLimits::of(options, step / 2), step)};
}

GridSearch::Rotations GridSearch::sample_of(const RegistrationOptions& options,
                                            const Rotations& rotations) {
  const RotationScaleLimits angles = RotationScaleLimits::of(options, rotations.step / 2);
  std::size_t scores = 0;
  for (const double degrees : rotations.degrees) {
    for (const double opposite : {0, 180}) {
      if (angles.allows_angle(degrees + opposite)) ++scores;
    }
  }
  const std::size_t every = std::max<std::size_t>(1, scores / scores_of_sample);
  Rotations sample{rotations.step, {}};
  for (std::size_t i = 0; i < rotations.degrees.size(); i += every) {
    sample.degrees.push_back(rotations.degrees[i]);
  }
  return sample;
}

// Which levels are compared at one of the grid's scales. By directions of edges, every two scales
// beside one another share the levels of the scale between them, so that fewer are computed and
// batches are fuller; but images of one scale are compared as they are.
double GridSearch::base_of(double scale) const {
  if (signal_ != SignalKind::orientation) return scale;
  const double steps = std::round(std::abs(std::log(scale)) / std::log(scale_step_));
  if (steps == 0) return scale;
  const double exponent = 2 * std::ceil(steps / 2) - 0.5;
  return std::pow(scale_step_, scale < 1 ? -exponent : exponent);
}

void GridSearch::add(std::span<const double> scales, const Rotations& rotations) {
  for (const double scale : scales) {
    compared_.push_back({rotations.degrees, scale, base_of(scale), options_.max_shift});
  }
}

void GridSearch::add_beside(std::span<const double> scales, std::initializer_list<double> offsets) {
  // Room for all, so that none moves.
  beside_.clear();
  beside_.reserve(known_.size() * offsets.size());
  for (const double scale : scales) add_beside_at(scale, 1, offsets);
}

void GridSearch::add_beside_at(double scale, double factor, std::initializer_list<double> offsets,
                               std::span<const double> others) {
  const auto first = static_cast<std::ptrdiff_t>(beside_.size());
  beside_.insert(beside_.end(), others.begin(), others.end());
  for (const Place& place : known_) {
    if (place.scale != scale) continue;
    for (const double offset : offsets) beside_.push_back(place.rotation_deg + offset);
  }
  std::sort(beside_.begin() + first, beside_.end());
  beside_.erase(std::unique(beside_.begin() + first, beside_.end()), beside_.end());
  const std::span<const double> degrees(beside_.begin() + first, beside_.end());
  if (degrees.empty()) return;
  compared_.push_back({degrees, scale * factor, base_of(scale), options_.max_shift});
}

void GridSearch::add_between() {
  constexpr std::size_t most_beside_one = 8;
  beside_.clear();
  beside_.reserve(known_.size() * most_beside_one);
  const double turn = rotations_.step / 2;
  const double factor = std::sqrt(scale_step_);
  const RotationScaleLimits limits = RotationScaleLimits::of(options_, turn, factor);
  for (const double scale : scales_) {
    add_beside_at(scale, 1, {-turn, turn});
    for (const double between : {1 / factor, factor}) {
      if (searched_motion(options_.motion) != Motion::similarity ||
          !limits.allows_scale(scale * between))
        continue;
      add_beside_at(scale, between, {-turn, 0, turn});
    }
  }
}

void GridSearch::add_known_and_sample() {
  beside_.clear();
  beside_.reserve(known_.size() + scales_.size() * sample_.degrees.size());
  for (std::size_t i = 0; i < scales_.size(); ++i) {
    const std::span<const double> sample(sample_.degrees);
    add_beside_at(scales_[i], 1, {0}, i % sampled_every == 0 ? sample : sample.first(0));
  }
}

void GridSearch::add_places(std::span<const KnownRotationScale> compared, Found peaks,
                            double step) {
  const RotationScaleLimits angles = RotationScaleLimits::of(options_, step / 2);
  auto both = peaks.begin();
  for (const KnownRotationScale& one : compared) {
    for (const double degrees : one.rotations_deg) {
      for (std::size_t opposite = 0; opposite < 2; ++opposite) {
        if (!angles.allows_angle(degrees + (opposite == 1 ? 180 : 0))) continue;
        const TranslationPeak& peak = (*both)[opposite];
        places_.push_back({peak, degrees, one.scale, peak.score});
      }
      ++both;
    }
  }
}

void GridSearch::divide(bool has_workers) {
  parts_.fill({});
  const std::span<const KnownRotationScale> all(compared_);
  const auto count = [](std::span<const KnownRotationScale> some) {
    return std::accumulate(some.begin(), some.end(), std::ptrdiff_t{0},
                           [](std::ptrdiff_t sum, const KnownRotationScale& one) {
                             return sum + std::ssize(one.rotations_deg);
                           });
  };
  const auto parts = static_cast<std::ptrdiff_t>(has_workers ? parts_.size() : 1);
  const std::ptrdiff_t rotations = count(all);
  std::ptrdiff_t part = 0, before = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end].base == all[i].base) ++end;
    const std::ptrdiff_t here = count(all.subspan(i, end - i));
    // A base belongs to the part in which its middle lies.
    if (part + 1 < parts && i > first && (2 * before + here) * parts > 2 * (part + 1) * rotations) {
      parts_.at(static_cast<std::size_t>(part++)) = all.subspan(first, i - first);
      first = i;
    }
    before += here;
    i = end;
  }
  parts_.at(static_cast<std::size_t>(part)) = all.subspan(first);
}

void GridSearch::find_parts(const PairContext& work, TranslationSearch GridFrames::*frames,
                            std::size_t first) {
  const std::size_t last = parts_.size() - 1;
  if (first < last && !parts_.at(first + 1).empty()) {
    const auto others = [&] { find_parts(work, frames, first + 1); };
    const auto search_part = [&](const PairContext& context, GridFrames& of_worker) {
      found_of_parts_.at(first) = (of_worker.*frames).find(context, parts_.at(first));
    };
    workers_.at(first)->run(search_part, others);
  } else {
    found_of_parts_.at(first) = (frames_.*frames).find(work, parts_.at(first));
  }
}

void GridSearch::search(const PairContext& work, TranslationSearch GridFrames::*frames,
                        double step) {
  divide(work.threads != nullptr);
  find_parts(work, frames, 0);
  for (std::size_t i = 0; i < parts_.size() && !work.is_cancelled(); ++i) {
    add_places(parts_.at(i), found_of_parts_.at(i), step);
  }
  compared_.clear();
}

// Puts the best places that differ from one another first, and drops the others.
void GridSearch::keep_distinct(const PairContext& work, std::size_t maximum) {
  const Shape& reference = work.reference.shape();
  const double moving_side = larger_side(work.moving.shape());
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.standing > b.standing; });
  const auto are_one = [&](const Affine& a, const Affine& b) {
    const double side = std::max(moving_side, scale_of(a) * larger_side(reference));
    return corner_distance(a, b, reference) < distinct * side;
  };
  auto end = places_.begin();
  for (const Place& place : places_) {
    if (end - places_.begin() == static_cast<std::ptrdiff_t>(maximum)) break;
    const bool known = std::any_of(places_.begin(), end, [&](const Place& other) {
      return are_one(place.peak.matrix, other.peak.matrix);
    });
    if (!known) *end++ = place;
  }
  places_.erase(end, places_.end());
}

// The places on small frames stay beside those on large ones: images of fine detail correlate on
// large frames only where rotation and scale are closer than the grid is.
void GridSearch::search_moderate(const PairContext& work) {
  places_.clear();
  add(moderate_, rotations_);
  search(work, &GridFrames::small, rotations_.step);
  keep_distinct(work, moderate_again);
  known_ = places_;
  add_beside(moderate_, {-rotations_.step, 0, rotations_.step});
  search(work, &GridFrames::large, rotations_.step);
  keep_distinct(work, moderate_again);
}

// In wide steps, and then half a step to both sides of the best.
void GridSearch::search_strong(const PairContext& work) {
  places_.clear();
  add(strong_, of_strong_);
  search(work, &GridFrames::large, of_strong_.step);
  keep_distinct(work, strong_again);
  known_ = places_;
  add_beside(strong_, {-rotations_.step, rotations_.step});
  search(work, &GridFrames::large, rotations_.step);
}

// Sets typical_ to the medians of the scores that some of the rotations have at each scale, whose
// places follow one another. Scales with too few are left out.
void GridSearch::find_typical_scores(const Rotations& told_by) {
  typical_.clear();
  for (auto first = places_.begin(); first != places_.end();) {
    const double scale = first->scale;
    scores_.clear();
    for (; first != places_.end() && first->scale == scale; ++first) {
      const auto& degrees = told_by.degrees;
      if (std::binary_search(degrees.begin(), degrees.end(), first->rotation_deg)) {
        scores_.push_back(first->peak.score);
      }
    }
    if (scores_.size() < min_for_median) continue;
    const auto middle = scores_.begin() + static_cast<std::ptrdiff_t>(scores_.size() / 2);
    std::nth_element(scores_.begin(), middle, scores_.end());
    typical_.push_back({scale, *middle});
  }
}

// The smoother images are at a scale, the higher they score at wrong places there, and few scales
// would take all the places. Scores are comparable as ratios to those that are typical there.
void GridSearch::relate_to_typical_scores(std::span<Place> places) const {
  if (typical_.empty()) return;
  const auto typical_at = [&](double scale) {
    const auto distance = [&](const Typical& at) { return std::abs(std::log(at.scale / scale)); };
    return std::min_element(
        typical_.begin(), typical_.end(),
        [&](const Typical& a, const Typical& b) { return distance(a) < distance(b); });
  };
  double scale = 0;
  auto typical = typical_.begin();
  for (Place& place : places) {
    if (place.scale != scale) {  // places of a scale mostly follow one another
      scale = place.scale;
      typical = typical_at(scale);
    }
    if (typical->score > 0) place.standing = place.peak.score / typical->score;
  }
}

// Makes known what stands out, and the best at every scale.
void GridSearch::know_promising() {
  const auto is_better = [](const Place& a, const Place& b) { return a.standing > b.standing; };
  known_.clear();
  for (auto first = places_.begin(); first != places_.end();) {
    const auto end = std::find_if(first, places_.end(),
                                  [&](const Place& place) { return place.scale != first->scale; });
    const auto best = first + std::min<std::ptrdiff_t>(end - first, promising_of_scale);
    std::partial_sort(first, best, end, is_better);
    known_.insert(known_.end(), first, best);
    first = end;
  }
  const auto most = std::min(places_.size(), promising);
  std::partial_sort(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(most),
                    places_.end(), is_better);
  known_.insert(known_.end(), places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(most));
}

// All on small frames, and what is promising there on large ones. Edges lie on one another only
// near the right place, which may not be the best on small frames. What scores are typical on large
// frames is told by rotations that are compared there whatever small frames say.
void GridSearch::search_promising(const PairContext& work) {
  add(scales_, rotations_);
  const bool few = rotations_.degrees.size() * compared_.size() <= promising;
  if (!few) {
    search(work, &GridFrames::small, rotations_.step);
    find_typical_scores(rotations_);
    relate_to_typical_scores(places_);
    know_promising();
    places_.clear();
    add_known_and_sample();
  }
  search(work, &GridFrames::large, rotations_.step);
  find_typical_scores(few ? rotations_ : sample_);
}

// Wide steps miss the right place.
void GridSearch::search_directions(const PairContext& work) {
  places_.clear();
  search_promising(work);
  relate_to_typical_scores(places_);
  keep_distinct(work, directions_again);
  known_ = places_;
  const std::size_t known = places_.size();
  if (options_.motion != Motion::translation) add_between();
  search(work, &GridFrames::large, rotations_.step / 2);
  relate_to_typical_scores(std::span(places_).subspan(known));
}

void GridSearch::search_grey_levels(const PairContext& work) {
  search_moderate(work);
  of_moderate_ = places_;  // a copy: both keep their memory from call to call
  search_strong(work);
  places_.insert(places_.end(), of_moderate_.begin(), of_moderate_.end());
}

std::span<const TranslationPeak> GridSearch::find(const PairContext& work, std::size_t maximum) {
  compared_.clear();
  if (work.threads != nullptr) {
    for (std::optional<ForkedWorker<GridFrames>>& worker : workers_) {
      if (!worker) worker.emplace(device_, work.threads, device_, steps_, batches_, signal_);
      worker->begin_pair(work);
    }
  }
  if (work.compares_orientation()) {
    search_directions(work);
  } else {
    search_grey_levels(work);
  }
  keep_distinct(work, maximum);
  found_.clear();
  for (const Place& place : places_) found_.push_back(place.peak);
  return found_;
}

}  // namespace warpalign::detail
