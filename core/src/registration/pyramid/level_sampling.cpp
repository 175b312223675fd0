// The sampling of the levels of an image pyramid.
#include "registration/pyramid/level_sampling.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// The sigma of the Gaussian low-pass filter before downsampling, in units of the spacing. It leaves
// 0.29 of the amplitude of a wave at the new Nyquist frequency.
constexpr double sigma_per_spacing = 0.5;

constexpr std::int64_t measured_side = 256;

std::int64_t samples(std::int64_t pixels, const Sampling2d& sampling) {
  const auto all = static_cast<std::int64_t>(
                       std::floor(static_cast<double>(pixels - 1) / sampling.spacing + 1e-9)) +
                   1;
  return sampling.maximum > 0 ? std::min(all, sampling.maximum) : all;
}

double origin(std::int64_t pixels, std::int64_t samples, double spacing) {
  return (static_cast<double>(pixels - 1) - static_cast<double>(samples - 1) * spacing) / 2;
}

}  // namespace

Shape level_shape(const Shape& image, const Sampling2d& sampling) {
  return {samples(image.width, sampling), samples(image.height, sampling), 1};
}

Affine level_to_image(const Shape& image, const Sampling2d& sampling) {
  const Shape shape = level_shape(image, sampling);
  return {sampling.spacing,
          0,
          origin(image.width, shape.width, sampling.spacing),
          0,
          sampling.spacing,
          origin(image.height, shape.height, sampling.spacing)};
}

SmoothSpec level_smoothing(PixelType type, const Shape& image, bool masked,
                           const Sampling2d& sampling) {
  const Shape shape = level_shape(image, sampling);
  const double sigma = sampling.spacing > 1 ? sigma_per_spacing * sampling.spacing : 0;
  return {.input = type,
          .shape = image,
          .output = shape,
          .origin = {origin(image.width, shape.width, sampling.spacing),
                     origin(image.height, shape.height, sampling.spacing)},
          .spacing = sampling.spacing,
          .sigma = sigma,
          .masked = masked};
}

double measured_spacing(const Shape& image) {
  const auto side = static_cast<double>(std::max(image.width, image.height));
  return std::max(1.0, side / static_cast<double>(measured_side));
}

LocalLevels local_levels_of(const IntensityStatistics& image) noexcept {
  return {static_cast<float>(image.mean), static_cast<float>(contrast_floor * image.deviation)};
}

}  // namespace warpalign::detail
