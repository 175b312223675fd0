// Proposes candidates from log-polar spectra: rotations and scales at several base scales, each
// with its best shift.
#include "registration/proposers/log_polar_search.hpp"

#include "registration/numerics/short_list.hpp"
#include "registration/pair/motion_model.hpp"
#include "registration/pair/search_limits.hpp"
#include "registration/pyramid/base_scales.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

constexpr std::size_t hypotheses_per_crop = 2;
// Two images of equal size give at most 36 crops. A large image contains thousands of crops of a
// small image's size, and then the highest peak of so many spectra is a random one. The grid
// search, whose cost does not depend on the sizes, handles these pairs.
constexpr std::int64_t max_crops = 256;

// The side of the padded frames on which shifts are found, and the largest number of shifts per
// batch, which take 70 MB of memory. About this many hypotheses share a base scale.
constexpr std::int64_t shift_side = 512;
constexpr std::int64_t max_shifts_at_once = 6;

constexpr LogPolarSearch::Settings standard_settings{128, 6, 1};
// In small or noisy pairs the right hypothesis ranks low.
constexpr LogPolarSearch::Settings fine_settings{256, 40, 0};

}  // namespace

std::unique_ptr<Proposer> make_log_polar(const Device& device, const RegistrationOptions& options) {
  return std::make_unique<LogPolarSearch>(device, standard_settings, options);
}
std::unique_ptr<Proposer> make_fine_log_polar(const Device& device,
                                              const RegistrationOptions& options) {
  return std::make_unique<LogPolarSearch>(device, fine_settings, options);
}

LogPolarSearch::LogPolarSearch(const Device& device, const Settings& settings,
                               const RegistrationOptions& options)
    : options_(options),
      device_(device),
      search_(device, settings.side, options),
      settings_(settings),
      one_shift_(device, shift_side) {}

void LogPolarSearch::propose(const PairContext& context, int round,
                             std::span<const Candidate> /*known*/,
                             std::vector<Candidate>& proposals) {
  if (round == 0) {
    hypotheses_.clear();
    add_at(context, 1);
  }
  if (round == settings_.other_bases_round) add_other_bases(context);
  const bool first = round <= settings_.other_bases_round;
  const auto found =
      first ? shifted_of(context, 0, 1) : shifted_of(context, 1, settings_.hypotheses);
  proposals.insert(proposals.end(), found.begin(), found.end());
}

TranslationSearch& LogPolarSearch::shifts_of(std::size_t hypotheses) {
  const std::int64_t at_once = TranslationSearch::batch_on(device_, shift_side, max_shifts_at_once);
  if (hypotheses <= 1 || at_once == 1) return one_shift_;
  if (!many_shifts_) many_shifts_.emplace(device_, shift_side, at_once);
  return *many_shifts_;
}

void LogPolarSearch::add_at(const PairContext& work, double base) {
  if (options_.motion == Motion::translation) {
    hypotheses_.push_back({RotationScalePeak{}, 1});
    return;
  }
  const bool scales = searched_motion(options_.motion) == Motion::similarity;
  RotationScaleLimits limits = RotationScaleLimits::of(options_);
  limits.min_scale = scales ? std::max(options_.min_scale / base, 1 / max_base_ratio) : 0.97;
  limits.max_scale = scales ? std::min(options_.max_scale / base, max_base_ratio) : 1.03;
  if (limits.min_scale > limits.max_scale) return;
  const Spacings spacings =
      rotation_scale_spacings(base, work.reference.shape(), work.moving.shape(), search_.side());
  // Uses the whole of the image whose content appears larger, and crops of that size from the
  // other.
  const bool whole_is_reference = base < 1;
  ImagePyramid& whole = whole_is_reference ? work.reference : work.moving;
  ImagePyramid& cropped = whole_is_reference ? work.moving : work.reference;
  PyramidLevel& whole_level = whole.level(
      work.stream, work.clock, {whole_is_reference ? spacings.reference : spacings.moving});
  PyramidLevel& cropped_level = cropped.level(
      work.stream, work.clock, {whole_is_reference ? spacings.moving : spacings.reference});
  const Shape& available = cropped_level.shape();
  const Shape crop{std::min({available.width, whole_level.shape().width, search_.side()}),
                   std::min({available.height, whole_level.shape().height, search_.side()}), 1};
  const Shape shape = base == 1 ? available : crop;
  if (crops_of(available, shape) > max_crops) return;
  for (RotationScalePeak peak :
       search_.find(work.stream, work.clock, whole, whole_level, cropped, cropped_level, shape,
                    whole_is_reference, limits, hypotheses_per_crop)) {
    peak.scale = scales ? peak.scale * base : 1;
    hypotheses_.push_back({peak, base});
  }
}

void LogPolarSearch::add_other_bases(const PairContext& work) {
  for (const double base : base_scales) {
    if (base == 1 || searched_motion(options_.motion) != Motion::similarity) continue;
    if (work.is_cancelled()) return;
    add_at(work, base);
  }
  sort_short_list(hypotheses_, [](const Hypothesis& a, const Hypothesis& b) {
    return a.peak.height > b.peak.height;
  });
  auto distinct = hypotheses_.begin();
  for (const Hypothesis& hypothesis : hypotheses_) {
    const bool known = std::any_of(hypotheses_.begin(), distinct, [&](const Hypothesis& other) {
      return lead_to_same_pose(hypothesis.peak, other.peak);
    });
    if (!known) *distinct++ = hypothesis;
  }
  hypotheses_.erase(distinct, hypotheses_.end());
}

std::span<const Candidate> LogPolarSearch::shifted_of(const PairContext& work, std::size_t first,
                                                      std::size_t end) {
  end = std::min(end, hypotheses_.size());
  first = std::min(first, end);
  return shifted(work, std::span(hypotheses_).subspan(first, end - first));
}

std::span<const Candidate> LogPolarSearch::shifted(const PairContext& work,
                                                   std::span<Hypothesis> hypotheses) {
  // Hypotheses with the same base share the reference's transform.
  sort_short_list(hypotheses,
                  [](const Hypothesis& a, const Hypothesis& b) { return a.base < b.base; });
  known_.clear();
  for (const Hypothesis& hypothesis : hypotheses) {
    known_.push_back({{&hypothesis.peak.rotation_deg, 1},
                      hypothesis.peak.scale,
                      hypothesis.base,
                      MaxShift::of(options_)});
  }
  const auto peaks = shifts_of(hypotheses.size()).find(work, known_);
  shifted_.clear();
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    add_shifts(work, hypotheses[i].peak.rotation_deg, peaks[i]);
  }
  sort_short_list(shifted_, [](const Candidate& a, const Candidate& b) {
    return a.shift_score > b.shift_score;
  });
  if (hypotheses.size() == 1 && !shifted_.empty()) mark_only_maximum(work, peaks.front());
  return shifted_;
}

// `peaks`: of the only hypothesis, whose better shift is the first candidate.
void LogPolarSearch::mark_only_maximum(const PairContext& work,
                                       const TranslationSearch::Peaks& peaks) {
  Candidate& best = shifted_.front();
  const std::size_t opposite = best.shift_score == peaks[0].score ? 0 : 1;
  if (one_shift_.is_only_maximum(work.stream, opposite)) best.only_maximum_at = best.matrix;
}

void LogPolarSearch::add_shifts(const PairContext& work, double rotation_deg,
                                const TranslationSearch::Peaks& peaks) {
  const RotationScaleLimits angles = RotationScaleLimits::of(options_);
  for (std::size_t opposite = 0; opposite < 2; ++opposite) {
    if (!angles.allows_angle(rotation_deg + (opposite == 1 ? 180 : 0))) continue;
    if (options_.motion == Motion::translation && opposite == 1) continue;
    Candidate candidate;
    if (options_.motion == Motion::translation) candidate.proposed_by = SearchMethod::shifts;
    candidate.shift_score = peaks[opposite].score;
    candidate.matrix = start_of(work, options_.motion, peaks[opposite].matrix);
    shifted_.push_back(candidate);
  }
}

}  // namespace warpalign::detail
