// Candidates from log-polar spectra: rotations and scales at several base scales, and their shifts.
#include "registration/proposers/log_polar_search.hpp"

#include "registration/numerics/short_list.hpp"
#include "registration/pyramid/base_scales.hpp"
#include "registration/refinement/coarse_refinement.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

constexpr std::size_t hypotheses_per_crop = 2;
// Images of one size have 36 crops at most. A small image has thousands of its size in a large one,
// and the highest of so many spectra's peaks is one of chance: the grid, whose cost does not depend
// on the sizes, looks for it.
constexpr std::int64_t max_crops = 256;

}  // namespace

LogPolarSearch::LogPolarSearch(const Device& device, std::int64_t side,
                               const RegistrationOptions& options, TranslationSearches& shifts)
    : options_(options), search_(device, side, options), shifts_(shifts) {}

void LogPolarSearch::begin(const PairWork& work) {
  hypotheses_.clear();
  add_at(work, 1);
}

void LogPolarSearch::add_at(const PairWork& work, double base) {
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
      rotation_scale_spacings(base, work.reference.shape(), work.moving.shape(), search_.side());
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

void LogPolarSearch::add_other_bases(const PairWork& work) {
  for (const double base : base_scales) {
    if (base == 1 || options_.motion != Motion::similarity) continue;
    if (work.is_stopped()) return;
    add_at(work, base);
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

std::span<const Candidate> LogPolarSearch::first(const PairWork& work) {
  return shifted(work, std::span(hypotheses_).first(std::min<std::size_t>(1, hypotheses_.size())));
}

std::span<const Candidate> LogPolarSearch::others(const PairWork& work, std::size_t maximum) {
  const std::size_t count = std::min(maximum, hypotheses_.size());
  return shifted(work,
                 std::span(hypotheses_).first(count).subspan(std::min<std::size_t>(count, 1)));
}

std::span<const Candidate> LogPolarSearch::shifted(const PairWork& work,
                                                   std::span<Hypothesis> hypotheses) {
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
  const auto peaks = shifts_.of(hypotheses.size()).find(work, known_);
  shifted_.clear();
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    add_shifts(work, hypotheses[i].peak.rotation_deg, peaks[i]);
  }
  sort_short_list(shifted_, [](const Candidate& a, const Candidate& b) {
    return a.shift_score > b.shift_score;
  });
  return shifted_;
}

void LogPolarSearch::add_shifts(const PairWork& work, double rotation_deg,
                                const TranslationSearch::Peaks& peaks) {
  const RotationScaleLimits angles = RotationScaleLimits::of(options_);
  for (std::size_t opposite = 0; opposite < 2; ++opposite) {
    if (!angles.allows_angle(rotation_deg + (opposite == 1 ? 180 : 0))) continue;
    if (options_.motion == Motion::translation && opposite == 1) continue;
    Candidate candidate;
    if (options_.motion == Motion::translation) candidate.proposed_by = Generator::shifts;
    candidate.shift_score = peaks[opposite].score;
    candidate.matrix = start_of(work, options_.motion, peaks[opposite].matrix);
    shifted_.push_back(candidate);
  }
}

}  // namespace warpalign::detail
