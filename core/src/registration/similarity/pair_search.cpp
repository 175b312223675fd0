// Finds the transform between two images.
#include "registration/similarity/pair_search.hpp"

#include "registration/confidence.hpp"
#include "registration/plane_geometry.hpp"
#include "registration/short_list.hpp"
#include "registration/similarity/base_scales.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

// Sides of the padded frames: of the rotation-scale search at first and where that was not enough,
// and of the translation search.
constexpr std::int64_t quick_side = 128;
constexpr std::int64_t thorough_side = 256;
constexpr std::int64_t shift_side = 512;
constexpr double settle_side = 256;       // of the levels of the coarse refinement
constexpr double min_judged_part = 0.04;  // fraction of the smaller level that must be in common
constexpr double min_settle_side = 48;    // smaller levels hold too little for it

// Fits whose last step moved a corner by more than this, in moving pixels, are heading for another
// position.
constexpr double max_unsettled = 0.2;

// A candidate this significant is accepted without comparing it to others: its significance is
// several times what unrelated images reach.
constexpr double beyond_doubt = 2 * significance_of_even_odds;

constexpr std::size_t hypotheses_per_crop = 2;
// How many hypotheses are tried at first, and how many where none of these convinced: in small and
// noisy pairs the right one is far down the list.
constexpr std::size_t quick_search = 6;
constexpr std::size_t thorough_search = 40;

// Unrelated images have shift scores below this.
constexpr double min_shift_score = 4;

// The number of independent pixels in the overlap; in smooth images it is smaller than the number
// of pixels. The mean squared slope over the variance is the inverse square of a correlation
// length.
double independent_pixels(const SimilaritySumsResult& sums) {
  const double variance = sums.moving_square - sums.moving * sums.moving / sums.pixels;
  if (!(variance > 0)) return 0;
  return sums.pixels * (sums.hessian[0] + sums.hessian[5]) / variance;
}

bool same_location(const Candidate& a, const Candidate& b, const Shape& reference,
                   const Shape& moving) {
  return corner_distance(a.matrix, b.matrix, reference) < 0.05 * larger_side(moving);
}

template <class Candidates>
void sort_by(Candidates& candidates, double Candidate::*score) {
  sort_short_list(candidates,
                  [&](const Candidate& a, const Candidate& b) { return a.*score > b.*score; });
}

}  // namespace

PairSearch::PairSearch(const Device& device, const RegistrationOptions& options)
    : device_(device),
      options_(options),
      quick_search_(device, quick_side, options),
      ones_(device),
      translation_search_(device, shift_side, ones_),
      fitter_(device),
      refinement_(device) {}

void PairSearch::add_turns_at(const Work& work, RotationScaleSearch& search, double base) {
  if (options_.motion == Motion::translation) {
    turns_.push_back({RotationScalePeak{}, 1});
    return;
  }
  const bool scales = options_.motion == Motion::similarity;
  RotationScaleLimits limits;
  limits.min_scale = scales ? std::max(options_.min_scale / base, 1 / farthest_from_base) : 0.97;
  limits.max_scale = scales ? std::min(options_.max_scale / base, farthest_from_base) : 1.03;
  limits.min_angle = options_.min_angle;
  limits.max_angle = options_.max_angle;
  if (limits.min_scale > limits.max_scale) return;
  const Spacings spacings =
      rotation_scale_spacings(base, work.reference.shape(), work.moving.shape(), search.side());
  // The image in which the content appears larger is used whole, and the other one in crops of its
  // size.
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
  const CropsAlong down(wide_level.shape().height, shape.height);
  const CropsAlong across(wide_level.shape().width, shape.width);
  crops_.clear();
  for (std::int64_t j = 0; j < down.count(); ++j) {
    for (std::int64_t i = 0; i < across.count(); ++i) {
      crops_.push_back({across.start(i), down.start(j)});
    }
  }
  for (RotationScalePeak peak :
       search.find(work.stream, work.clock, close, close_level, wide, wide_level, crops_, shape,
                   !reference_is_wide, limits, hypotheses_per_crop)) {
    peak.scale = scales ? peak.scale * base : 1;
    turns_.push_back({peak, base});
  }
}

// Adds the hypotheses of the other base scales to those at base 1 in turns_, sorts them by height
// and removes those that say the same as a higher one.
void PairSearch::add_other_turns(const Work& work, RotationScaleSearch& search) {
  for (const double base : base_scales) {
    if (base == 1 || options_.motion != Motion::similarity) continue;
    add_turns_at(work, search, base);
  }
  sort_short_list(turns_, [](const Hypothesis& a, const Hypothesis& b) {
    return a.peak.height > b.peak.height;
  });
  auto distinct = turns_.begin();
  for (const Hypothesis& hypothesis : turns_) {
    const bool known = std::any_of(turns_.begin(), distinct, [&](const Hypothesis& other) {
      return std::abs(std::remainder(hypothesis.peak.rotation_deg - other.peak.rotation_deg, 180)) <
                 2 &&
             std::abs(std::log(hypothesis.peak.scale / other.peak.scale)) < 0.03;
    });
    if (!known) *distinct++ = hypothesis;
  }
  turns_.erase(distinct, turns_.end());
}

// Finds the best shift for both rotations of a hypothesis, which differ by 180 degrees.
void PairSearch::place(const Work& work, const Hypothesis& hypothesis) {
  const RotationScalePeak& peak = hypothesis.peak;
  const Spacings spacings =
      shift_spacings(hypothesis.base, work.reference.shape(), work.moving.shape(), shift_side);
  PyramidLevel& reference = work.reference.level(work.stream, work.clock, {spacings.reference});
  PyramidLevel& moving = work.moving.level(work.stream, work.clock, {spacings.moving});
  // Where the centre of the moving image lies on the reference without a shift, and how far from
  // there it may be.
  const ShiftLimits limits{centre_of(reference.shape()),
                           options_.max_shift / peak.scale / spacings.reference};
  const double level_scale = peak.scale * spacings.reference / spacings.moving;
  const auto placed =
      translation_search_.find(work.stream, work.clock, work.reference, reference, work.moving,
                               moving, peak.rotation_deg, level_scale, limits);
  RotationScaleLimits angles;
  angles.min_angle = options_.min_angle;
  angles.max_angle = options_.max_angle;
  placed_.clear();
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
    placed_.push_back(candidate);
  }
}

// The levels on which a candidate is refined coarsely. `swapped`: the moving image is the coarser
// one and takes the reference's role.
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

// Coarse refinement: Gauss-Newton on coarse levels reduces an error of a few pixels to a few
// hundredths. Also computes the significance there.
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

// Finds the shifts of the hypotheses in turns_ in order and refines them coarsely; returns true as
// soon as one is beyond doubt.
bool PairSearch::try_hypotheses(const Work& work, std::size_t maximum) {
  for (std::size_t i = 0; i < std::min(maximum, turns_.size()); ++i) {
    place(work, turns_[i]);
    sort_by(placed_, &Candidate::shift_score);
    for (Candidate& candidate : placed_) {
      const bool known = std::any_of(settled_.begin(), settled_.end(), [&](const Candidate& other) {
        return same_location(candidate, other, work.reference.shape(), work.moving.shape());
      });
      if (known || candidate.shift_score < min_shift_score) continue;
      settle(work, candidate);
      settled_.push_back(candidate);
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

std::span<const Candidate> PairSearch::run(Stream& stream, StageClock& clock,
                                           ImagePyramid& reference, ImagePyramid& moving) {
  const Work work{stream, clock, reference, moving};
  settled_.clear();
  turns_.clear();
  add_turns_at(work, quick_search_, 1);
  bool sure = try_hypotheses(work, 1);
  if (!sure && options_.motion != Motion::translation) {
    add_other_turns(work, quick_search_);
    sure = try_hypotheses(work, quick_search);
    const bool doubtful = std::none_of(settled_.begin(), settled_.end(), [](const Candidate& c) {
      return c.significance >= significance_of_even_odds;
    });
    if (!sure && doubtful) {
      if (!thorough_search_) thorough_search_.emplace(device_, thorough_side, options_);
      turns_.clear();
      add_turns_at(work, *thorough_search_, 1);
      add_other_turns(work, *thorough_search_);
      try_hypotheses(work, thorough_search);
    }
  }
  sort_by(settled_, &Candidate::significance);
  if (options_.refine && !settled_.empty() &&
      settled_[0].significance >= significance_of_even_odds / 2) {
    refine(work, settled_[0]);
  }
  return settled_;
}

}  // namespace warpalign::detail
