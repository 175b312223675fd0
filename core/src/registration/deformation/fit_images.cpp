// Two images or volumes at all levels of a deformable registration, prepared for the fit.
#include "registration/deformation/fit_images.hpp"

#include "registration/deformation/grid_choice.hpp"
#include "registration/deformation/known_levels.hpp"
#include "registration/deformation/transfers.hpp"

#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

constexpr int window_radius = LocalCorrelationSpec::radius;

LocalCorrelationSpec window_spec(const Shape& shape, IntensityRelation relation) {
  return {shape, relation == IntensityRelation::any};
}

/// The pose of execute_warp(): from the pixels of a level of the reference, displaced in full
/// pixels, to the pixels of the level of the moving image.
std::array<float, 15> pose_of(const DeformableLevel& level, const HomogeneousMatrix& affine) {
  std::array<float, 15> pose{};
  for (std::size_t row = 0; row < 3; ++row) {
    const double factor = level.moving_factor[row];
    double offset = affine.m[4 * row + 3] - (factor - 1) / 2;
    for (std::size_t column = 0; column < 3; ++column) {
      const double entry = affine.m[4 * row + column];
      pose[4 * row + column] = static_cast<float>(entry / factor);
      offset += entry * (level.reference_factor[column] - 1) / 2.0;
    }
    pose[4 * row + 3] = static_cast<float>(offset / factor);
    pose[12 + row] = static_cast<float>(level.reference_factor[row]);
  }
  return pose;
}

/// Halves the axes that differ from the finer level.
HalveVolumeSpec halving(const Shape& fine, const Shape& coarse) {
  return {fine,
          {coarse.width < fine.width, coarse.height < fine.height, coarse.depth < fine.depth}};
}

/// The variance of an image, of whose pixels some may not be known.
IntensityVariance variance_of(Stream& stream, StageClock& clock, const ImageLevel& level,
                              const Image& image, KnownPixels known, Image& few) {
  const NoiseSampling sampling(image.shape());
  clock.run("local_correlation",
            [&] { level.correlation.execute_noise_samples(stream, image, sampling, few); });
  return intensity_variance(downloaded(stream, few), sampling, image.shape(), known);
}

/// Computes what does not depend on the field.
void prepare(Stream& stream, StageClock& clock, ImageLevel& level,
             const HomogeneousMatrix& affine) {
  const auto& masks = level.masks;
  level.reference_variance = variance_of(
      stream, clock, level, *level.reference,
      masks ? KnownPixels(masks->reference_known) : KnownPixels(), level.few_of_reference);
  level.moving_variance =
      variance_of(stream, clock, level, *level.moving,
                  masks ? KnownPixels(masks->moving_known) : KnownPixels(), level.few_of_moving);
  const auto pose = pose_of(level.geometry, affine);
  upload(stream, pose, level.pose);
  clock.run("local_correlation", [&] {
    level.correlation.execute_statistics(stream, *level.reference,
                                         static_cast<float>(level.reference_variance.floor),
                                         level.statistics);
  });
  if (!masks) return;
  // Windows that do not count have no precision, and so no curvature.
  std::vector<float> statistics = downloaded(stream, level.statistics);
  const std::size_t half = statistics.size() / 2;
  for (std::size_t i = 0; i < half; ++i) statistics[half + i] *= masks->counted[i];
  upload(stream, statistics, level.statistics);
}

}  // namespace

ImageLevel::ImageLevel(const Device& device, const DeformableLevel& level,
                       IntensityRelation intensity_relation)
    : geometry(level),
      relation(intensity_relation),
      correlation(device, window_spec(level.reference, intensity_relation)),
      pose(device.make_image(PixelType::f32, {15, 1, 1})),
      samples(device.make_image(PixelType::f32, level.grid_spec().volumes(2))),
      statistics(device.make_image(PixelType::f32, level.grid_spec().volumes(2))),
      forces(device.make_image(PixelType::f32,
                               level.grid_spec().volumes(level.grid_spec().dimensions()))),
      determinants(device.make_image(PixelType::f32, level.reference)),
      extremes(device.make_image(PixelType::f32, level.grid_spec().extremes())),
      few_of_reference(device.make_image(PixelType::f32, NoiseSampling(level.reference).samples())),
      few_of_moving(device.make_image(PixelType::f32, NoiseSampling(level.moving).samples())),
      few_of_two(device.make_image(PixelType::f32, NoiseSampling(samples.shape()).samples())) {}

double ImageLevel::mean_correlation(Stream& stream) const {
  const double mean = correlation.sum(stream).mean();
  return relation == IntensityRelation::any ? std::sqrt(mean) : mean;
}

double ImageLevel::expected_correlation(Stream& stream, StageClock& clock) {
  const NoiseSampling sampling(samples.shape());
  // The second half of the statistics are precisions, and that of the samples tells what counts.
  const auto second_half_of_few = [&](const Image& image) {
    clock.run("local_correlation",
              [&] { correlation.execute_noise_samples(stream, image, sampling, few_of_two); });
    const std::vector<float> few = downloaded(stream, few_of_two);
    const std::int64_t first = (samples.shape().pixels() / 2 + sampling.every - 1) / sampling.every;
    return std::vector<float>(few.begin() + first, few.begin() + sampling.count);
  };
  const std::vector<float> precisions = second_half_of_few(statistics);
  return detail::expected_correlation(precisions, second_half_of_few(samples), reference_variance,
                                      moving_variance);
}

FitImages::FitImages(const Device& device, std::span<const DeformableLevel> levels,
                     IntensityRelation relation)
    : device_(device) {
  for (const DeformableLevel& level : levels) {
    if (!levels_.empty()) {
      const DeformableLevel& finer = levels_.back().geometry;
      halved_.push_back({device_.make_image(PixelType::f32, level.reference),
                         device_.make_image(PixelType::f32, level.moving),
                         HalveVolumePlan(device, halving(finer.reference, level.reference)),
                         HalveVolumePlan(device, halving(finer.moving, level.moving))});
    }
    levels_.emplace_back(device, level, relation);
  }
}

void FitImages::halve(Stream& stream, StageClock& clock, const FitImage& reference,
                      const FitImage& moving) {
  levels_[0].reference = &reference.values;
  levels_[0].moving = &moving.values;
  for (std::size_t i = 1; i < levels_.size(); ++i) {
    Halved& level = halved_[i - 1];
    clock.run("halve_volume", [&] {
      level.halve_reference.execute(stream, *levels_[i - 1].reference, level.reference);
      level.halve_moving.execute(stream, *levels_[i - 1].moving, level.moving);
    });
    levels_[i].reference = &level.reference;
    levels_[i].moving = &level.moving;
  }
}

void FitImages::make_masks(Stream& stream, const FitImage& reference, const FitImage& moving) {
  if (reference.known.empty() && moving.known.empty()) {
    for (ImageLevel& level : levels_) level.masks.reset();
    return;
  }
  const auto complete = [](const FitImage& image) {
    if (!image.known.empty()) return std::vector<float>(image.known.begin(), image.known.end());
    return std::vector<float>(static_cast<std::size_t>(image.values.shape().pixels()), 1.0F);
  };
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    ImageLevel& level = levels_[i];
    const DeformableLevel& geometry = level.geometry;
    if (!level.masks) {
      level.masks = FitMasks{{},
                             {},
                             {},
                             device_.make_image(PixelType::f32, geometry.reference),
                             device_.make_image(PixelType::f32, geometry.moving)};
    }
    FitMasks& masks = *level.masks;
    if (i == 0) {
      masks.reference_known = complete(reference);
      masks.moving_known = complete(moving);
    } else {
      const DeformableLevel& finer = levels_[i - 1].geometry;
      const FitMasks& of = *levels_[i - 1].masks;
      masks.reference_known = halved_known(of.reference_known, finer.reference, geometry.reference);
      masks.moving_known = halved_known(of.moving_known, finer.moving, geometry.moving);
    }
    // Coarse windows reach far, and may contain filled pixels.
    masks.counted = i == 0 ? eroded_known(masks.reference_known, geometry.reference, window_radius)
                           : masks.reference_known;
    upload(stream, masks.counted, masks.reference);
    // One pixel more, for the interpolation.
    upload(stream,
           eroded_known(masks.moving_known, geometry.moving, i == 0 ? window_radius + 1 : 1),
           masks.moving);
    stream.finish();
  }
}

void FitImages::set(Stream& stream, StageClock& clock, const FitImage& reference,
                    const FitImage& moving, const HomogeneousMatrix& affine) {
  halve(stream, clock, reference, moving);
  make_masks(stream, reference, moving);
  for (ImageLevel& level : levels_) prepare(stream, clock, level, affine);
}

}  // namespace warpalign::detail
