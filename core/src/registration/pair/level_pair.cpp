// The pyramid levels between which a transform is coarsely fitted and evaluated.
#include "registration/pair/level_pair.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pyramid/base_scales.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// The fraction of the smaller level's unmasked pixels that must overlap for a correlation to count.
// More parameters can make a small part resemble anything.
constexpr double min_overlap_fraction = 0.04;
constexpr double min_overlap_fraction_higher_dof = 0.1;

// The number of independent pixels in the overlap, which is smaller than the number of pixels in
// smooth images. The mean squared slope divided by the variance is the inverse square of a
// correlation length.
double independent_pixels(const SimilaritySumsResult& sums) {
  const double variance = sums.moving_square - sums.moving * sums.moving / sums.pixels;
  if (!(variance > 0)) return 0;
  return sums.pixels * (sums.hessian[0] + sums.hessian[sums.parameters + 1]) / variance;
}

bool has_regular_inverse(const Homography& m, const Shape& moving) {
  constexpr double min_divisor = 0.01;  // smallest ratio of two divisors
  return m.is_affine() || is_regular(m.inverse(), moving, min_divisor);
}

}  // namespace

FitDirection::FitDirection(const PairContext& work, const Affine& similarity,
                           const Homography& transform)
    : swapped_(scale_of(similarity) < 1 && has_regular_inverse(transform, work.moving.shape())),
      coarse_(swapped_ ? &work.moving : &work.reference),
      fine_(swapped_ ? &work.reference : &work.moving),
      base_(std::max(1.0, nearest_base(scale_of(to_fit_frame(similarity))))),
      common_(std::min(larger_side(coarse_->shape()), larger_side(fine_->shape()) / base_)) {
  if (!work.compares_orientation()) return;
  const Affine matrix = to_fit_frame(similarity);
  rotation_ = std::atan2(matrix.d, matrix.a);
}

double FitDirection::spacing(double side) const { return std::max(1.0, common_ / side); }

FitDirection::BothLevels FitDirection::both_levels(const PairContext& work, double spacing) const {
  const Spacings spacings = spacings_for(base_, spacing);
  PyramidLevel& coarse = coarse_->level(work.stream, work.clock, {spacings.reference});
  return {coarse, fine_->level(work.stream, work.clock, {spacings.moving})};
}

FitDirection::Levels FitDirection::levels(const PairContext& work, double spacing,
                                          FieldDetail detail) const {
  const auto [coarse, fine] = both_levels(work, spacing);
  SimilarityFit::Pair pair = work.compares_orientation()
                                 ? orientation_pair(work, coarse, fine, detail)
                                 : intensity_pair(work, coarse, fine);
  pair.counted = {coarse_->num_unmasked(coarse.shape().plane()),
                  fine_->num_unmasked(fine.shape().plane())};
  return {{coarse, fine}, std::move(pair)};
}

SimilarityFit::Pair FitDirection::intensity_pair(const PairContext& work, PyramidLevel& coarse,
                                                 PyramidLevel& fine) const {
  const Image& normalized = coarse_->normalized(work.stream, work.clock, coarse);
  const Image& coefficients = fine_->coefficients(work.stream, work.clock, fine);
  const PairWeights weights = weights_of(work.stream, work.unit_weights, coarse.weight(),
                                         coarse.shape(), fine.weight(), fine.shape());
  return {{normalized, coefficients, weights.reference, weights.moving, nullptr}, 0, 1, {}};
}

SimilarityFit::Pair FitDirection::orientation_pair(const PairContext& work, PyramidLevel& coarse,
                                                   PyramidLevel& fine, FieldDetail detail) const {
  const GradientFields::Field rotated =
      work.orientation.turned(work.stream, work.clock, *coarse_, coarse, rotation_, detail);
  const GradientFields::Field coefficients =
      work.orientation.coefficients(work.stream, work.clock, *fine_, fine, detail);
  const PairWeights weights = weights_of(work.stream, work.unit_weights, coarse.weight(),
                                         coarse.shape(), fine.weight(), fine.shape());
  SimilarityFit::Pair pair{
      {rotated.cosines, coefficients.cosines, weights.reference, weights.moving, nullptr},
      0,
      1,
      {}};
  pair.second.emplace(SimilarityImages{rotated.sines, coefficients.sines, weights.reference,
                                       weights.moving, nullptr});
  return pair;
}

void LevelStarts::clear() {
  levels_.clear();
  matrices_.clear();
  ends_.clear();
}

void LevelStarts::add_group(FitDirection::Levels&& levels) {
  levels_.push_back(std::move(levels));
  ends_.push_back(matrices_.size());
}

void LevelStarts::add(const Homography& to_fit_frame) {
  matrices_.push_back(levels_.back().to_levels(to_fit_frame));
  ends_.back() = matrices_.size();
}

std::span<const SimilarityFit::Group> LevelStarts::groups() {
  groups_.clear();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    groups_.push_back({&levels_[i].pair,
                       std::span<const Homography>(matrices_).subspan(begin, ends_[i] - begin)});
    begin = ends_[i];
  }
  return groups_;
}

void score_candidate(const PairContext& work, const FitDirection& roles,
                     const FitDirection::Levels& levels, const Homography& matrix,
                     const SimilaritySumsResult& sums, Candidate& candidate) {
  const double image_scale = scale_of(matrix.affine_at(centre_of(roles.coarse().shape())));
  const double coarse_spacing = levels.coarse.sampling().spacing;
  const double scale = image_scale * coarse_spacing / levels.fine.sampling().spacing;
  const double smaller = levels.pair.counted.smaller_area(scale);
  const double fraction = candidate.motion == Motion::similarity ? min_overlap_fraction
                                                                 : min_overlap_fraction_higher_dof;
  const bool enough = sums.pixels >= fraction * smaller;
  candidate.correlation = enough ? correlation_of(sums) : 0;
  candidate.significance = significance_of(candidate.correlation, independent_pixels(sums));
  candidate.null_test.reset();
  const double area =
      coarse_spacing * coarse_spacing * (roles.swapped() ? image_scale * image_scale : 1);
  candidate.overlap =
      std::min(1.0, sums.pixels * area / static_cast<double>(work.reference.shape().plane()));
}

}  // namespace warpalign::detail
