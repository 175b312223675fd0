// Finds how two pictures lie on one another.
#include "registration/similarity/pair_search.hpp"

#include "registration/confidence.hpp"
#include "registration/plane_geometry.hpp"
#include "registration/similarity/base_scales.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

// Of the canvas that rotation and scale are looked for on: at first, and when that was not enough.
constexpr std::int64_t quick_side = 128;
constexpr std::int64_t thorough_side = 256;
constexpr std::int64_t shift_side = 512;
constexpr double settle_side = 256;       // of the views that candidates are settled and judged on
constexpr double min_judged_part = 0.04;  // of the smaller view, in common
constexpr double min_settle_side = 48;    // smaller views hold too little to settle on

// Fits that still move a corner by more, in moving pixels, are on their way to somewhere else.
constexpr double max_unsettled = 0.2;

// A candidate this significant needs no rivals: several times what unrelated pictures reach.
constexpr double beyond_doubt = 2 * significance_of_even_odds;

constexpr std::size_t hypotheses_per_crop = 2;
// Tried at first, and when none of these convinced: small and noisy pairs have the right one far
// down the list.
constexpr std::size_t quick_search = 6;
constexpr std::size_t thorough_search = 40;

// Shift scores below this are those of unrelated pictures.
constexpr double min_shift_score = 4;

// How many independent pixels the overlap is worth: smooth pictures have fewer than pixels. The
// mean squared slope over the variance is the inverse square of a correlation length.
double independent_pixels(const SimilaritySumsResult& sums) {
  const double variance = sums.moving_square - sums.moving * sums.moving / sums.pixels;
  if (!(variance > 0)) return 0;
  return sums.pixels * (sums.hessian[0] + sums.hessian[5]) / variance;
}

bool same_location(const Candidate& a, const Candidate& b, const Shape& reference,
                   const Shape& moving) {
  return corner_distance(a.matrix, b.matrix, reference) < 0.05 * larger_side(moving);
}

void sort_by(std::vector<Candidate>& candidates, double Candidate::*score) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return a.*score > b.*score; });
}

}  // namespace

PairSearch::PairSearch(const Device& device, const RegistrationOptions& options)
    : device_(device),
      options_(options),
      quick_search_(device, quick_side, options),
      translation_search_(device, shift_side),
      fitter_(device),
      refinement_(device),
      ones_(device) {}

std::vector<PairSearch::Hypothesis> PairSearch::hypotheses_at(const Work& work,
                                                              RotationScaleSearch& search,
                                                              double base, std::size_t maximum) {
  if (options_.motion == Motion::translation) return {{RotationScalePeak{}, 1}};
  const bool scales = options_.motion == Motion::similarity;
  RotationScaleLimits limits;
  limits.min_scale = scales ? std::max(options_.min_scale / base, 1 / farthest_from_base) : 0.97;
  limits.max_scale = scales ? std::min(options_.max_scale / base, farthest_from_base) : 1.03;
  limits.min_angle = options_.min_angle;
  limits.max_angle = options_.max_angle;
  if (limits.min_scale > limits.max_scale) return {};
  const Spacings spacings =
      rotation_scale_spacings(base, work.reference.shape(), work.moving.shape(), search.side());
  // The picture whose content is larger is seen whole, the other one in crops of that size.
  const bool reference_is_wide = base >= 1;
  ImagePyramid& wide = reference_is_wide ? work.reference : work.moving;
  ImagePyramid& close = reference_is_wide ? work.moving : work.reference;
  PyramidLevel& wide_level = wide.level(work.stream, work.clock,
                                        {reference_is_wide ? spacings.reference : spacings.moving});
  PyramidLevel& close_level = close.level(
      work.stream, work.clock, {reference_is_wide ? spacings.moving : spacings.reference});
  const Shape crop{std::min({wide_level.shape().width, close_level.shape().width, search.side()}),
                   std::min({wide_level.shape().height, close_level.shape().height, search.side()}),
                   1};
  const Shape shape = base == 1 ? wide_level.shape() : crop;
  std::vector<Crop> crops;
  for (const std::int64_t y : crop_starts(wide_level.shape().height, shape.height)) {
    for (const std::int64_t x : crop_starts(wide_level.shape().width, shape.width)) {
      crops.push_back({x, y});
    }
  }
  std::vector<Hypothesis> hypotheses;
  for (RotationScalePeak peak :
       search.find(work.stream, work.clock, close, close_level, wide, wide_level, crops, shape,
                   !reference_is_wide, limits, maximum)) {
    peak.scale = scales ? peak.scale * base : 1;
    hypotheses.push_back({peak, base});
  }
  return hypotheses;
}

// The best turns at all base scales, those that say the same left out.
std::vector<PairSearch::Hypothesis> PairSearch::all_hypotheses(
    const Work& work, RotationScaleSearch& search, const std::vector<Hypothesis>& of_base_one) {
  std::vector<Hypothesis> all = of_base_one;
  for (const double base : base_scales) {
    if (base == 1 || options_.motion != Motion::similarity) continue;
    const auto found = hypotheses_at(work, search, base, hypotheses_per_crop);
    all.insert(all.end(), found.begin(), found.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const Hypothesis& a, const Hypothesis& b) {
    return a.peak.height > b.peak.height;
  });
  std::vector<Hypothesis> distinct;
  for (const Hypothesis& hypothesis : all) {
    const bool known = std::any_of(distinct.begin(), distinct.end(), [&](const Hypothesis& other) {
      return std::abs(std::remainder(hypothesis.peak.rotation_deg - other.peak.rotation_deg, 180)) <
                 2 &&
             std::abs(std::log(hypothesis.peak.scale / other.peak.scale)) < 0.03;
    });
    if (!known) distinct.push_back(hypothesis);
  }
  return distinct;
}

// Both half-turns of a turn, where their shift scores best.
std::vector<Candidate> PairSearch::place(const Work& work, const Hypothesis& hypothesis) {
  const RotationScalePeak& peak = hypothesis.peak;
  const Spacings spacings =
      shift_spacings(hypothesis.base, work.reference.shape(), work.moving.shape(), shift_side);
  PyramidLevel& reference = work.reference.level(work.stream, work.clock, {spacings.reference});
  PyramidLevel& moving = work.moving.level(work.stream, work.clock, {spacings.moving});
  // Where the moving picture's centre lies on the reference when the shift is none, and how far it
  // may be from there.
  const ShiftLimits limits{centre_of(reference.shape()),
                           options_.max_shift / peak.scale / spacings.reference};
  const double level_scale = peak.scale * spacings.reference / spacings.moving;
  const auto placed =
      translation_search_.find(work.stream, work.clock, work.reference, reference, work.moving,
                               moving, peak.rotation_deg, level_scale, limits);
  RotationScaleLimits angles;
  angles.min_angle = options_.min_angle;
  angles.max_angle = options_.max_angle;
  std::vector<Candidate> candidates;
  for (std::size_t half = 0; half < 2; ++half) {
    const double degrees = peak.rotation_deg + (half == 1 ? 180 : 0);
    if (!angles.allows_angle(degrees)) continue;
    if (options_.motion == Motion::translation && half == 1) continue;
    Candidate candidate;
    candidate.shift_score = placed[half].score;
    candidate.matrix = moving.to_image() * placed[half].matrix * reference.to_image().inverse();
    if (options_.motion == Motion::rotation) {
      candidate.matrix =
          Similarity{degrees, 1, {}}.matrix(work.reference.shape(), work.moving.shape());
    }
    candidates.push_back(candidate);
  }
  return candidates;
}

// The views that a candidate is settled on; `swapped`: the moving picture is the coarser one and
// takes the reference's part.
SimilarityFit::Pair PairSearch::levels_of_pair(const Work& work, bool swapped, double base,
                                               double spacing, PyramidLevel*& reference,
                                               PyramidLevel*& moving) {
  const Spacings spacings = spacings_for(base, spacing);
  ImagePyramid& coarse = swapped ? work.moving : work.reference;
  ImagePyramid& fine = swapped ? work.reference : work.moving;
  reference = &coarse.level(work.stream, work.clock, {spacings.reference});
  moving = &fine.level(work.stream, work.clock, {spacings.moving});
  const Image& normalized = coarse.normalized(work.stream, work.clock, *reference);
  const Image& coefficients = fine.coefficients(work.stream, work.clock, *moving);
  const PairWeights weights = weights_of(work.stream, ones_, reference->weight(),
                                         reference->shape(), moving->weight(), moving->shape());
  return {{normalized, coefficients, weights.reference, weights.moving, nullptr}, 0, 1};
}

// Gauss-Newton on coarse views, from a few pixels' error to a few hundredths, and the significance
// there.
void PairSearch::settle(const Work& work, Candidate& candidate) {
  const bool swapped = scale_of(candidate.matrix) < 1;
  Affine matrix = swapped ? candidate.matrix.inverse() : candidate.matrix;
  const double base = std::max(1.0, nearest_base(scale_of(matrix)));
  const Shape& coarse = swapped ? work.moving.shape() : work.reference.shape();
  const Shape& fine = swapped ? work.reference.shape() : work.moving.shape();
  const double common = std::min(larger_side(coarse), larger_side(fine) / base);
  const double spacing = std::max(1.0, common / settle_side);
  const std::array<FitOptions, 2> levels{FitOptions{options_.motion, 12, 0.02, 0.15},
                                         FitOptions{options_.motion, 10, 0.005, 0.08}};
  PyramidLevel* reference = nullptr;
  PyramidLevel* moving = nullptr;
  const bool too_small_to_halve = common / (2 * spacing) < min_settle_side;
  for (std::size_t level = too_small_to_halve ? 1 : 0; level < levels.size(); ++level) {
    const SimilarityFit::Pair pair =
        levels_of_pair(work, swapped, base, level == 0 ? 2 * spacing : spacing, reference, moving);
    const Affine start = moving->to_image().inverse() * matrix * reference->to_image();
    const auto fitted = fitter_.fit(work.stream, work.clock, pair, start, levels[level]);
    if (!fitted) continue;
    matrix = moving->to_image() * fitted->matrix * reference->to_image().inverse();
  }
  const SimilarityFit::Pair pair = levels_of_pair(work, swapped, base, spacing, reference, moving);
  const SimilaritySumsResult sums = fitter_.look(
      work.stream, work.clock, pair, moving->to_image().inverse() * matrix * reference->to_image());
  candidate.matrix = swapped ? matrix.inverse() : matrix;
  const double scale =
      scale_of(matrix) * reference->sampling().spacing / moving->sampling().spacing;
  const double smaller = smaller_area(reference->shape(), moving->shape(), scale);
  // A few pixels correlate with anything.
  const bool enough = sums.pixels >= min_judged_part * smaller;
  candidate.correlation = enough ? correlation_of(sums) : 0;
  candidate.significance = std::atanh(std::clamp(candidate.correlation, -0.999999, 0.999999)) *
                           std::sqrt(independent_pixels(sums));
  const double area = reference->sampling().spacing * reference->sampling().spacing *
                      (swapped ? 1 / (scale_of(candidate.matrix) * scale_of(candidate.matrix)) : 1);
  candidate.overlap =
      std::min(1.0, sums.pixels * area / static_cast<double>(work.reference.shape().plane()));
}

// Places and settles turns in their order; true as soon as one is beyond doubt.
bool PairSearch::try_hypotheses(const Work& work, const std::vector<Hypothesis>& hypotheses,
                                std::size_t maximum, std::vector<Candidate>& settled) {
  for (std::size_t i = 0; i < std::min(maximum, hypotheses.size()); ++i) {
    std::vector<Candidate> placed = place(work, hypotheses[i]);
    sort_by(placed, &Candidate::shift_score);
    for (Candidate& candidate : placed) {
      const bool known = std::any_of(settled.begin(), settled.end(), [&](const Candidate& other) {
        return same_location(candidate, other, work.reference.shape(), work.moving.shape());
      });
      if (known || candidate.shift_score < min_shift_score) continue;
      settle(work, candidate);
      settled.push_back(candidate);
      if (options_.candidates == 1 && candidate.significance >= beyond_doubt) return true;
    }
  }
  return false;
}

void PairSearch::refine(const Work& work, Candidate& candidate) {
  const bool swapped = scale_of(candidate.matrix) < 1;
  const ImagePyramid& coarse = swapped ? work.moving : work.reference;
  const ImagePyramid& fine = swapped ? work.reference : work.moving;
  const Affine start = swapped ? candidate.matrix.inverse() : candidate.matrix;
  const FitOptions options{options_.motion, 12, 0.0005, 0.03, min_illumination_cell};
  const auto fitted =
      refinement_.fit({work.stream, work.clock, coarse, fine, start, ones_}, fitter_, options);
  if (!fitted || fitted->last_move > max_unsettled) return;
  candidate.matrix = swapped ? fitted->matrix.inverse() : fitted->matrix;
  candidate.refined = true;
}

std::vector<Candidate> PairSearch::run(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                       ImagePyramid& moving) {
  const Work work{stream, clock, reference, moving};
  std::vector<Candidate> settled;
  const std::vector<Hypothesis> first = hypotheses_at(work, quick_search_, 1, hypotheses_per_crop);
  bool sure = try_hypotheses(work, first, 1, settled);
  if (!sure && options_.motion != Motion::translation) {
    sure = try_hypotheses(work, all_hypotheses(work, quick_search_, first), quick_search, settled);
    const bool doubtful = std::none_of(settled.begin(), settled.end(), [](const Candidate& c) {
      return c.significance >= significance_of_even_odds;
    });
    if (!sure && doubtful) {
      if (!thorough_search_) thorough_search_.emplace(device_, thorough_side, options_);
      const std::vector<Hypothesis> of_base_one =
          hypotheses_at(work, *thorough_search_, 1, hypotheses_per_crop);
      try_hypotheses(work, all_hypotheses(work, *thorough_search_, of_base_one), thorough_search,
                     settled);
    }
  }
  sort_by(settled, &Candidate::significance);
  if (options_.refine && !settled.empty() &&
      settled[0].significance >= significance_of_even_odds / 2) {
    refine(work, settled[0]);
  }
  return settled;
}

}  // namespace warpalign::detail
