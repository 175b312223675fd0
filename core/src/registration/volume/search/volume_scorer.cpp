// Scores two aligned volumes: the significance of their correlation, and their overlap.
#include "registration/volume/search/volume_scorer.hpp"

#include "registration/numerics/confidence.hpp"
#include "registration/volume/geometry/valid_voxels.hpp"
#include "registration/volume/search/volume_search.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// Unrelated volumes reach higher significances with edges than with intensities: 6.2 and 5.1 at
// most, over 600 pairs of tissues (docs/accuracy-volumes.md).
constexpr double half_significance_of_edges = 7;

InterpolateSpec smoothing(const VolumeGrid& moving, const VolumeGrid& reference) {
  InterpolateSpec spec;
  spec.images.shape = moving.shape;
  spec.output = reference.shape;
  spec.images.dimensions = 3;
  spec.spline.prefilter = std::nullopt;
  spec.spline.boundary = Boundary::constant;
  return spec;
}

// Resamples a volume that is 0 where a voxel is masked, and at least 1 elsewhere.
InterpolateSpec nearest_unmasked(const VolumeGrid& moving, const VolumeGrid& reference) {
  InterpolateSpec spec = smoothing(moving, reference);
  spec.spline.degree = 0;
  spec.spline.boundary =
      Boundary::grid_constant;  // voxels extend half a voxel beyond their centres
  spec.output_type = PixelType::u8;
  return spec;
}

// Maps values from [-1, 1] to [1, 3].
constexpr VolumeLevels above_zero{-2, 1};

}  // namespace

VolumeScorer::VolumeScorer(const Device& device, const VolumeGrid& reference,
                           const VolumeGrid& moving, bool marked)
    : reference_(reference),
      moving_(moving),
      align_(device, smoothing(moving, reference)),
      pad_(device, {PixelType::f32, reference.shape,
                    padded_volume_of(reference.shape, reference.shape), shift_taper, marked}),
      fft_(device, {padded_volume_of(reference.shape, reference.shape), 3, FftDirections::forward}),
      sums_(device, {padded_volume_of(reference.shape, reference.shape)}),
      aligned_(Device(device).make_image(PixelType::f32, reference.shape)),
      padded_(Device(device).make_image(PixelType::f32,
                                        padded_volume_of(reference.shape, reference.shape))),
      reference_spectrum_(
          Device(device).make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_.shape()))),
      moving_spectrum_(
          Device(device).make_image(PixelType::c32, RealFftPlan::half_spectrum(padded_.shape()))) {
  if (!marked) return;
  marks_.emplace(Marks{PadVolumePlan(device, {PixelType::f32, moving.shape, moving.shape, 0, true}),
                       InterpolatePlan(device, nearest_unmasked(moving, reference)),
                       MarkVolumePlan(device, {PixelType::f32, reference.shape}),
                       StatisticsPlan(device, {reference.shape, PixelType::f32}),
                       Device(device).make_image(PixelType::f32, moving.shape),
                       Device(device).make_image(PixelType::u8, reference.shape),
                       Device(device).make_buffer(sizeof(StatisticsRecord))});
}

// Computes the same fraction as VolumeSearch::independent_fraction(), but for the aligned volumes:
// rotation changes the spectrum.
double VolumeScorer::significance(Stream& stream, StageClock& clock, const LevelImages& images,
                                  const VolumeCandidate& candidate) {
  const auto transform = [&](const Image& values, Image& spectrum) {
    clock.run("pad_volume", [&] { pad_.execute(stream, values, {0, 1}, padded_); });
    clock.run("fft", [&] { fft_.forward(stream, padded_, spectrum); });
  };
  const HomogeneousMatrix rows =
      HomogeneousMatrix::affine3(voxel_rows(candidate.transform, reference_, moving_));
  if (marks_) {
    clock.run("pad_volume", [&] {
      marks_->fill.execute(stream, images.moving, {0, 1}, marks_->filled);
    });
  }
  const Image& moving = marks_ ? marks_->filled : images.moving;
  clock.run("resample", [&] { align_.execute(stream, moving, rows, aligned_); });
  transform(images.reference, reference_spectrum_);
  transform(aligned_, moving_spectrum_);
  SpectrumSums sums;
  clock.run("spectrum_sums",
            [&] { sums = sums_.execute(stream, reference_spectrum_, moving_spectrum_); });
  const double all = static_cast<double>(padded_.shape().pixels()) * sums.product;
  const double fraction = all > 0 ? std::min(1.0, sums.a * sums.b / all) : 0;
  return volume_significance(candidate.correlation, fraction * candidate.voxels);
}

double VolumeScorer::overlap(const VolumeCandidate& candidate) const {
  const double inner = static_cast<double>(reference_.shape.width - 2 * AffineFit::margin) *
                       static_cast<double>(reference_.shape.height - 2 * AffineFit::margin) *
                       static_cast<double>(reference_.shape.depth - 2 * AffineFit::margin);
  return std::min(1.0, candidate.voxels / inner);
}

double VolumeScorer::marked_overlap(Stream& stream, StageClock& clock, const LevelImages& values,
                                    const VolumeCandidate& candidate) {
  Marks& marks = *marks_;
  const HomogeneousMatrix rows =
      HomogeneousMatrix::affine3(voxel_rows(candidate.transform, reference_, moving_));
  clock.run("pad_volume",
            [&] { marks.fill.execute(stream, values.moving, above_zero, marks.filled); });
  clock.run("resample", [&] { marks.nearest.execute(stream, marks.filled, rows, marks.common); });
  clock.run("mark_volume",
            [&] { marks.mark.execute(stream, values.reference, marks.common, aligned_); });
  const double all = valid(stream, clock, values.reference);
  return all > 0 ? valid(stream, clock, aligned_) / all : 0;
}

double VolumeScorer::valid(Stream& stream, StageClock& clock, const Image& values) {
  return valid_voxels(values.shape(),
                      measured(stream, clock, marks_->statistics, values, marks_->record));
}

double half_significance_of(Modality modality) {
  return modality == Modality::other ? half_significance_of_edges
                                     : volume_half_confidence_significance;
}

// The probability that the best of N independent Gaussian numbers exceeds t is about
// N exp(-t^2 / 2), up to factors that vary little. Keeping it constant gives the larger limit.
double half_significance_of(Modality modality, std::size_t hypotheses) {
  const double one = half_significance_of(modality);
  return std::sqrt(one * one + 2 * std::log(static_cast<double>(hypotheses)));
}

}  // namespace warpalign::detail
