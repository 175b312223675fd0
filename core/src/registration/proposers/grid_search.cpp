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

// Rotations per batch on small frames: enough to fill a GPU, in 90 MB of memory at most.
constexpr std::size_t max_small_batch = 64;

// Rotations per batch on large frames, which mostly get fewer rotations of each scale.
constexpr std::int64_t batch_of_intensity = 12;
constexpr std::int64_t batch_of_orientation = 24;

// The number of distinct poses that are tried again together with neighbouring rotations: poses
// of moderate scale on large frames, poses of strong zoom between the wide steps.
constexpr std::size_t max_moderate_retries = 24;
constexpr std::size_t max_strong_retries = 12;

// For gradient orientation, how many poses of the small frames are tried again on large ones, and
// how many of each scale at least. A grid with fewer poses than the first of these is searched on
// large frames alone.
constexpr std::size_t max_promising = 100;
constexpr std::size_t min_promising_per_scale = 2;

// With fewer scores at a scale, most may be near the right rotation, which makes their median
// useless.
constexpr std::size_t min_for_median = 20;
// The number of sampled scores (or slightly more) that define the baseline at a scale and its
// neighbour on large frames.
constexpr std::size_t sample_size = 24;
constexpr std::size_t sampled_every = 2;

// For gradient orientation, how many poses are tried again at half steps around them.
constexpr std::size_t max_orientation_retries = 24;

// Poses closer than this, in units of the moving image's larger side, count as one.
constexpr double min_distance = 0.08;

// Zooms above this are strong. The overlap is then less than a third as wide as the wider image. A
// rotation moves the edge of the overlap by so much less that the first pass can take wider steps.
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

// Returns the size of equal batches, none larger than `most`.
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
      strong_rotations_(rotations_of(options, wider_steps * steps.rotation)),
      device_(device),
      steps_(steps),
      batches_{TranslationSearch::batch_on(device, steps.small_side,
                                           batch_of(rotations_.degrees.size(), max_small_batch)),
               TranslationSearch::batch_on(
                   device, steps.large_side,
                   signal == SignalKind::orientation ? batch_of_orientation : batch_of_intensity)},
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
  const std::size_t every = std::max<std::size_t>(1, scores / sample_size);
  Rotations sample{rotations.step, {}};
  for (std::size_t i = 0; i < rotations.degrees.size(); i += every) {
    sample.degrees.push_back(rotations.degrees[i]);
  }
  return sample;
}

// Returns the base scale, which selects the levels for a scale of the grid. For gradient
// orientation, every two neighbouring scales share the levels of the scale between them, which
// takes fewer levels and fills batches better; scale 1 keeps the original levels.
double GridSearch::base_of(double scale) const {
  if (signal_ != SignalKind::orientation) return scale;
  const double steps = std::round(std::abs(std::log(scale)) / std::log(scale_step_));
  if (steps == 0) return scale;
  const double exponent = 2 * std::ceil(steps / 2) - 0.5;
  return std::pow(scale_step_, scale < 1 ? -exponent : exponent);
}

void GridSearch::add(std::span<const double> scales, const Rotations& rotations) {
  for (const double scale : scales) {
    compared_.push_back({rotations.degrees, scale, base_of(scale), MaxShift::of(options_)});
  }
}

void GridSearch::add_neighbours(std::span<const double> scales,
                                std::initializer_list<double> offsets) {
  // Reserves enough, because spans point into neighbour_rotations_.
  neighbour_rotations_.clear();
  neighbour_rotations_.reserve(known_.size() * offsets.size());
  for (const double scale : scales) add_neighbours_at(scale, 1, offsets);
}

void GridSearch::add_neighbours_at(double scale, double factor,
                                   std::initializer_list<double> offsets,
                                   std::span<const double> others) {
  const auto first = static_cast<std::ptrdiff_t>(neighbour_rotations_.size());
  neighbour_rotations_.insert(neighbour_rotations_.end(), others.begin(), others.end());
  for (const Pose& pose : known_) {
    if (pose.scale != scale) continue;
    for (const double offset : offsets) neighbour_rotations_.push_back(pose.rotation_deg + offset);
  }
  std::sort(neighbour_rotations_.begin() + first, neighbour_rotations_.end());
  neighbour_rotations_.erase(
      std::unique(neighbour_rotations_.begin() + first, neighbour_rotations_.end()),
      neighbour_rotations_.end());
  const std::span<const double> degrees(neighbour_rotations_.begin() + first,
                                        neighbour_rotations_.end());
  if (degrees.empty()) return;
  compared_.push_back({degrees, scale * factor, base_of(scale), MaxShift::of(options_)});
}

void GridSearch::add_half_steps() {
  constexpr std::size_t max_neighbours = 8;
  neighbour_rotations_.clear();
  neighbour_rotations_.reserve(known_.size() * max_neighbours);
  const double turn = rotations_.step / 2;
  const double factor = std::sqrt(scale_step_);
  const RotationScaleLimits limits = RotationScaleLimits::of(options_, turn, factor);
  for (const double scale : scales_) {
    add_neighbours_at(scale, 1, {-turn, turn});
    for (const double between : {1 / factor, factor}) {
      if (searched_motion(options_.motion) != Motion::similarity ||
          !limits.allows_scale(scale * between))
        continue;
      add_neighbours_at(scale, between, {-turn, 0, turn});
    }
  }
}

void GridSearch::add_known_and_sampled() {
  neighbour_rotations_.clear();
  neighbour_rotations_.reserve(known_.size() + scales_.size() * sample_.degrees.size());
  for (std::size_t i = 0; i < scales_.size(); ++i) {
    const std::span<const double> sample(sample_.degrees);
    add_neighbours_at(scales_[i], 1, {0}, i % sampled_every == 0 ? sample : sample.first(0));
  }
}

void GridSearch::add_poses(std::span<const KnownRotationScale> compared, Found peaks, double step) {
  const RotationScaleLimits angles = RotationScaleLimits::of(options_, step / 2);
  auto both = peaks.begin();
  for (const KnownRotationScale& one : compared) {
    for (const double degrees : one.rotations_deg) {
      for (std::size_t opposite = 0; opposite < 2; ++opposite) {
        if (!angles.allows_angle(degrees + (opposite == 1 ? 180 : 0))) continue;
        const TranslationPeak& peak = (*both)[opposite];
        poses_.push_back({peak, degrees, one.scale, peak.score});
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
    // A base belongs to the part that contains its middle.
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
      part_peaks_.at(first) = (of_worker.*frames).find(context, parts_.at(first));
    };
    workers_.at(first)->run(search_part, others);
  } else {
    part_peaks_.at(first) = (frames_.*frames).find(work, parts_.at(first));
  }
}

void GridSearch::search(const PairContext& work, TranslationSearch GridFrames::*frames,
                        double step) {
  divide(work.threads != nullptr);
  find_parts(work, frames, 0);
  for (std::size_t i = 0; i < parts_.size() && !work.is_cancelled(); ++i) {
    add_poses(parts_.at(i), part_peaks_.at(i), step);
  }
  compared_.clear();
}

// Keeps the best distinct poses, best first.
void GridSearch::keep_distinct(const PairContext& work, std::size_t maximum) {
  const Shape& reference = work.reference.shape();
  const double moving_side = larger_side(work.moving.shape());
  std::sort(poses_.begin(), poses_.end(),
            [](const Pose& a, const Pose& b) { return a.relative_score > b.relative_score; });
  const auto are_one = [&](const Affine& a, const Affine& b) {
    const double side = std::max(moving_side, scale_of(a) * larger_side(reference));
    return corner_distance(a, b, reference) < min_distance * side;
  };
  auto end = poses_.begin();
  for (const Pose& pose : poses_) {
    if (end - poses_.begin() == static_cast<std::ptrdiff_t>(maximum)) break;
    const bool known = std::any_of(poses_.begin(), end, [&](const Pose& other) {
      return are_one(pose.peak.matrix, other.peak.matrix);
    });
    if (!known) *end++ = pose;
  }
  poses_.erase(end, poses_.end());
}

// Keeps the poses of the small frames as well as those of the large ones. Images with fine detail
// correlate on large frames only if rotation and scale are closer than a grid step.
void GridSearch::search_moderate(const PairContext& work) {
  poses_.clear();
  add(moderate_, rotations_);
  search(work, &GridFrames::small, rotations_.step);
  keep_distinct(work, max_moderate_retries);
  known_ = poses_;
  add_neighbours(moderate_, {-rotations_.step, 0, rotations_.step});
  search(work, &GridFrames::large, rotations_.step);
  keep_distinct(work, max_moderate_retries);
}

// Searches in wide steps, and then half a step to both sides of the best poses.
void GridSearch::search_strong(const PairContext& work) {
  poses_.clear();
  add(strong_, strong_rotations_);
  search(work, &GridFrames::large, strong_rotations_.step);
  keep_distinct(work, max_strong_retries);
  known_ = poses_;
  add_neighbours(strong_, {-rotations_.step, rotations_.step});
  search(work, &GridFrames::large, rotations_.step);
}

// Sets baselines_ to the median score of the given rotations at each scale. Expects poses_ to be
// grouped by scale. Skips scales with too few scores.
void GridSearch::compute_baselines(const Rotations& baseline_rotations) {
  baselines_.clear();
  for (auto first = poses_.begin(); first != poses_.end();) {
    const double scale = first->scale;
    scores_.clear();
    for (; first != poses_.end() && first->scale == scale; ++first) {
      const auto& degrees = baseline_rotations.degrees;
      if (std::binary_search(degrees.begin(), degrees.end(), first->rotation_deg)) {
        scores_.push_back(first->peak.score);
      }
    }
    if (scores_.size() < min_for_median) continue;
    const auto middle = scores_.begin() + static_cast<std::ptrdiff_t>(scores_.size() / 2);
    std::nth_element(scores_.begin(), middle, scores_.end());
    baselines_.push_back({scale, *middle});
  }
}

// Divides each score by the baseline of its scale. Smooth images score higher even at wrong poses,
// so without this few scales would take all the candidates.
void GridSearch::normalize_scores(std::span<Pose> places) const {
  if (baselines_.empty()) return;
  const auto baseline_at = [&](double scale) {
    const auto distance = [&](const ScoreBaseline& at) {
      return std::abs(std::log(at.scale / scale));
    };
    return std::min_element(
        baselines_.begin(), baselines_.end(),
        [&](const ScoreBaseline& a, const ScoreBaseline& b) { return distance(a) < distance(b); });
  };
  double scale = 0;
  auto baseline = baselines_.begin();
  for (Pose& pose : places) {
    if (pose.scale != scale) {  // poses_ is mostly grouped by scale
      scale = pose.scale;
      baseline = baseline_at(scale);
    }
    if (baseline->score > 0) pose.relative_score = pose.peak.score / baseline->score;
  }
}

// Selects the poses that stand out, and the best ones of every scale, as known poses.
void GridSearch::select_promising() {
  const auto is_better = [](const Pose& a, const Pose& b) {
    return a.relative_score > b.relative_score;
  };
  known_.clear();
  for (auto first = poses_.begin(); first != poses_.end();) {
    const auto end = std::find_if(first, poses_.end(),
                                  [&](const Pose& pose) { return pose.scale != first->scale; });
    const auto best = first + std::min<std::ptrdiff_t>(end - first, min_promising_per_scale);
    std::partial_sort(first, best, end, is_better);
    known_.insert(known_.end(), first, best);
    first = end;
  }
  const auto most = std::min(poses_.size(), max_promising);
  std::partial_sort(poses_.begin(), poses_.begin() + static_cast<std::ptrdiff_t>(most),
                    poses_.end(), is_better);
  known_.insert(known_.end(), poses_.begin(), poses_.begin() + static_cast<std::ptrdiff_t>(most));
}

// Searches all poses on small frames and the promising ones on large frames. Edges coincide
// only near the right pose, which need not be the best on small frames. On large frames, a sample
// of rotations that does not depend on the small frames defines the baseline.
void GridSearch::search_promising(const PairContext& work) {
  add(scales_, rotations_);
  const bool few = rotations_.degrees.size() * compared_.size() <= max_promising;
  if (!few) {
    search(work, &GridFrames::small, rotations_.step);
    compute_baselines(rotations_);
    normalize_scores(poses_);
    select_promising();
    poses_.clear();
    add_known_and_sampled();
  }
  search(work, &GridFrames::large, rotations_.step);
  compute_baselines(few ? rotations_ : sample_);
}

// No wide steps here: they would miss the right pose.
void GridSearch::search_orientation(const PairContext& work) {
  poses_.clear();
  search_promising(work);
  normalize_scores(poses_);
  keep_distinct(work, max_orientation_retries);
  known_ = poses_;
  const std::size_t known = poses_.size();
  if (options_.motion != Motion::translation) add_half_steps();
  search(work, &GridFrames::large, rotations_.step / 2);
  normalize_scores(std::span(poses_).subspan(known));
}

void GridSearch::search_intensity(const PairContext& work) {
  search_moderate(work);
  moderate_poses_ = poses_;  // a copy, so that both buffers keep their memory
  search_strong(work);
  poses_.insert(poses_.end(), moderate_poses_.begin(), moderate_poses_.end());
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
    search_orientation(work);
  } else {
    search_intensity(work);
  }
  keep_distinct(work, maximum);
  found_.clear();
  for (const Pose& pose : poses_) found_.push_back(pose.peak);
  return found_;
}

}  // namespace warpalign::detail
