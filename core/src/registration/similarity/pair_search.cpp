// Finds how two pictures lie on one another.
#include "registration/similarity/pair_search.hpp"

#include "registration/similarity/base_scales.hpp"
#include "registration/confidence.hpp"
#include "registration/plane_geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

// Of the canvas that rotation and scale are looked for on: at first, and when that was not enough.
constexpr std::int64_t quick_side = 128;
constexpr std::int64_t thorough_side = 256;
constexpr std::int64_t shift_side = 512;
constexpr double settle_side = 256;  // of the views that candidates are settled and judged on
constexpr double least_judged_part = 0.04;  // of the smaller view, in common
constexpr double least_settle_side = 48;    // smaller views hold too little to settle on

// Fits that still move a corner by more, in moving pixels, are on their way to somewhere else.
constexpr double most_unsettled = 0.2;

// A candidate this significant needs no rivals: several times what unrelated pictures reach.
constexpr double beyond_doubt = 2 * significance_of_even_odds;

constexpr std::size_t turns_a_crop = 2;
// Tried at first, and when none of these convinced: small and noisy pairs have the right one far
// down the list.
constexpr std::size_t quick_turns = 6;
constexpr std::size_t thorough_turns = 40;

// Shift scores below this are those of unrelated pictures.
constexpr double least_shift_score = 4;

// How many independent pixels the overlap is worth: smooth pictures have fewer than pixels. The
// mean squared slope over the variance is the inverse square of a correlation length.
double independent_pixels(const SimilaritySumsResult& sums) {
  const double variance = sums.moving_square - sums.moving * sums.moving / sums.pixels;
  if (!(variance > 0)) return 0;
  return sums.pixels * (sums.hessian[0] + sums.hessian[5]) / variance;
}

bool same_place(const Candidate& a, const Candidate& b, const Shape& reference,
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
      quick_turns_(device, quick_side, options),
      shift_search_(device, shift_side),
      fitter_(device),
      fine_fit_(device),
      ones_(device) {}

std::vector<PairSearch::Turn> PairSearch::turns_at(const Work& work, TurnSearch& search,
                                                   double base, std::size_t most) {
  if (options_.motion == Motion::translation) return {{TurnPeak{}, 1}};
  const bool scales = options_.motion == Motion::similarity;
  TurnLimits limits;
  limits.least_scale =
      scales ? std::max(options_.least_scale / base, 1 / farthest_from_base) : 0.97;
  limits.most_scale = scales ? std::min(options_.most_scale / base, farthest_from_base) : 1.03;
  limits.least_angle = options_.least_angle;
  limits.most_angle = options_.most_angle;
  if (limits.least_scale > limits.most_scale) return {};
  const Spacings spacings =
      turn_spacings(base, work.reference.shape(), work.moving.shape(), search.side());
  // The picture whose content is larger is seen whole, the other one in crops of that size.
  const bool reference_is_wide = base >= 1;
  Picture& wide = reference_is_wide ? work.reference : work.moving;
  Picture& close = reference_is_wide ? work.moving : work.reference;
  View& wide_view = wide.view(work.stream, work.clock,
                              {reference_is_wide ? spacings.reference : spacings.moving});
  View& close_view = close.view(work.stream, work.clock,
                                {reference_is_wide ? spacings.moving : spacings.reference});
  const Shape crop{std::min({wide_view.shape().width, close_view.shape().width, search.side()}),
                   std::min({wide_view.shape().height, close_view.shape().height, search.side()}),
                   1};
  const Shape shape = base == 1 ? wide_view.shape() : crop;
  std::vector<Crop> crops;
  for (const std::int64_t y : crop_starts(wide_view.shape().height, shape.height)) {
    for (const std::int64_t x : crop_starts(wide_view.shape().width, shape.width)) {
      crops.push_back({x, y});
    }
  }
  std::vector<Turn> turns;
  for (TurnPeak peak : search.find(work.stream, work.clock, close, close_view, wide, wide_view,
                                   crops, shape, !reference_is_wide, limits, most)) {
    peak.scale = scales ? peak.scale * base : 1;
    turns.push_back({peak, base});
  }
  return turns;
}

// The best turns at all base scales, those that say the same left out.
std::vector<PairSearch::Turn> PairSearch::all_turns(const Work& work, TurnSearch& search,
                                                    const std::vector<Turn>& of_base_one) {
  std::vector<Turn> all = of_base_one;
  for (const double base : base_scales) {
    if (base == 1 || options_.motion != Motion::similarity) continue;
    const auto found = turns_at(work, search, base, turns_a_crop);
    all.insert(all.end(), found.begin(), found.end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Turn& a, const Turn& b) { return a.peak.height > b.peak.height; });
  std::vector<Turn> distinct;
  for (const Turn& turn : all) {
    const bool known = std::any_of(distinct.begin(), distinct.end(), [&](const Turn& other) {
      return std::abs(std::remainder(turn.peak.rotation_deg - other.peak.rotation_deg, 180)) < 2 &&
             std::abs(std::log(turn.peak.scale / other.peak.scale)) < 0.03;
    });
    if (!known) distinct.push_back(turn);
  }
  return distinct;
}

// Both half-turns of a turn, where their shift scores best.
std::vector<Candidate> PairSearch::place(const Work& work, const Turn& turn) {
  const TurnPeak& peak = turn.peak;
  const Spacings spacings =
      shift_spacings(turn.base, work.reference.shape(), work.moving.shape(), shift_side);
  View& reference = work.reference.view(work.stream, work.clock, {spacings.reference});
  View& moving = work.moving.view(work.stream, work.clock, {spacings.moving});
  // Where the moving picture's centre lies on the reference when the shift is none, and how far it
  // may be from there.
  const ShiftLimits limits{centre_of(reference.shape()),
                           options_.max_shift / peak.scale / spacings.reference};
  const double view_scale = peak.scale * spacings.reference / spacings.moving;
  const auto placed =
      shift_search_.find(work.stream, work.clock, work.reference, reference, work.moving, moving,
                         peak.rotation_deg, view_scale, limits);
  TurnLimits angles;
  angles.least_angle = options_.least_angle;
  angles.most_angle = options_.most_angle;
  std::vector<Candidate> candidates;
  for (std::size_t half = 0; half < 2; ++half) {
    const double degrees = peak.rotation_deg + (half == 1 ? 180 : 0);
    if (!angles.allows_angle(degrees)) continue;
    if (options_.motion == Motion::translation && half == 1) continue;
    Candidate candidate;
    candidate.shift_score = placed[half].score;
    candidate.matrix = moving.to_picture() * placed[half].matrix * reference.to_picture().inverse();
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
SimilarityFit::Pair PairSearch::views_of(const Work& work, bool swapped, double base,
                                         double spacing, View*& reference, View*& moving) {
  const Spacings spacings = spacings_for(base, spacing);
  Picture& coarse = swapped ? work.moving : work.reference;
  Picture& fine = swapped ? work.reference : work.moving;
  reference = &coarse.view(work.stream, work.clock, {spacings.reference});
  moving = &fine.view(work.stream, work.clock, {spacings.moving});
  const Image& even = coarse.even(work.stream, work.clock, *reference);
  const Image& coefficients = fine.coefficients(work.stream, work.clock, *moving);
  const PairWeights weights = weights_of(work.stream, ones_, reference->weight(),
                                         reference->shape(), moving->weight(), moving->shape());
  return {{even, coefficients, weights.reference, weights.moving, nullptr}, 0, 1};
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
  View* reference = nullptr;
  View* moving = nullptr;
  const bool too_small_to_halve = common / (2 * spacing) < least_settle_side;
  for (std::size_t level = too_small_to_halve ? 1 : 0; level < levels.size(); ++level) {
    const SimilarityFit::Pair pair =
        views_of(work, swapped, base, level == 0 ? 2 * spacing : spacing, reference, moving);
    const Affine start = moving->to_picture().inverse() * matrix * reference->to_picture();
    const auto fitted = fitter_.fit(work.stream, work.clock, pair, start, levels[level]);
    if (!fitted) continue;
    matrix = moving->to_picture() * fitted->matrix * reference->to_picture().inverse();
  }
  const SimilarityFit::Pair pair = views_of(work, swapped, base, spacing, reference, moving);
  const SimilaritySumsResult sums =
      fitter_.look(work.stream, work.clock, pair,
                   moving->to_picture().inverse() * matrix * reference->to_picture());
  candidate.matrix = swapped ? matrix.inverse() : matrix;
  const double scale =
      scale_of(matrix) * reference->sampling().spacing / moving->sampling().spacing;
  const double smaller = smaller_area(reference->shape(), moving->shape(), scale);
  // A few pixels correlate with anything.
  const bool enough = sums.pixels >= least_judged_part * smaller;
  candidate.correlation = enough ? correlation_of(sums) : 0;
  candidate.significance = std::atanh(std::clamp(candidate.correlation, -0.999999, 0.999999)) *
                           std::sqrt(independent_pixels(sums));
  const double area = reference->sampling().spacing * reference->sampling().spacing *
                      (swapped ? 1 / (scale_of(candidate.matrix) * scale_of(candidate.matrix)) : 1);
  candidate.overlap =
      std::min(1.0, sums.pixels * area / static_cast<double>(work.reference.shape().plane()));
}

// Places and settles turns in their order; true as soon as one is beyond doubt.
bool PairSearch::try_turns(const Work& work, const std::vector<Turn>& turns, std::size_t most,
                           std::vector<Candidate>& settled) {
  for (std::size_t i = 0; i < std::min(most, turns.size()); ++i) {
    std::vector<Candidate> placed = place(work, turns[i]);
    sort_by(placed, &Candidate::shift_score);
    for (Candidate& candidate : placed) {
      const bool known = std::any_of(settled.begin(), settled.end(), [&](const Candidate& other) {
        return same_place(candidate, other, work.reference.shape(), work.moving.shape());
      });
      if (known || candidate.shift_score < least_shift_score) continue;
      settle(work, candidate);
      settled.push_back(candidate);
      if (options_.candidates == 1 && candidate.significance >= beyond_doubt) return true;
    }
  }
  return false;
}

void PairSearch::refine(const Work& work, Candidate& candidate) {
  const bool swapped = scale_of(candidate.matrix) < 1;
  const Picture& coarse = swapped ? work.moving : work.reference;
  const Picture& fine = swapped ? work.reference : work.moving;
  const Affine start = swapped ? candidate.matrix.inverse() : candidate.matrix;
  const FitOptions options{options_.motion, 12, 0.0005, 0.03, least_light_cell};
  const auto fitted =
      fine_fit_.fit({work.stream, work.clock, coarse, fine, start, ones_}, fitter_, options);
  if (!fitted || fitted->last_move > most_unsettled) return;
  candidate.matrix = swapped ? fitted->matrix.inverse() : fitted->matrix;
  candidate.refined = true;
}

std::vector<Candidate> PairSearch::run(Stream& stream, StageClock& clock, Picture& reference,
                                       Picture& moving) {
  const Work work{stream, clock, reference, moving};
  std::vector<Candidate> settled;
  const std::vector<Turn> first = turns_at(work, quick_turns_, 1, turns_a_crop);
  bool sure = try_turns(work, first, 1, settled);
  if (!sure && options_.motion != Motion::translation) {
    sure = try_turns(work, all_turns(work, quick_turns_, first), quick_turns, settled);
    const bool doubtful = std::none_of(settled.begin(), settled.end(), [](const Candidate& c) {
      return c.significance >= significance_of_even_odds;
    });
    if (!sure && doubtful) {
      if (!thorough_turns_) thorough_turns_.emplace(device_, thorough_side, options_);
      const std::vector<Turn> of_base_one = turns_at(work, *thorough_turns_, 1, turns_a_crop);
      try_turns(work, all_turns(work, *thorough_turns_, of_base_one), thorough_turns, settled);
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
