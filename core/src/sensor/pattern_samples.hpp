// Frames of a stack in host memory, and what they show at the same pixels.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// An image, row by row.
using Plane = std::vector<float>;

/// Frames less their means, and the pixels that are known in all of them.
struct PatternSamples {
  /// Takes the frames. `mask`: null, or 0 where pixels are ignored.
  PatternSamples(std::span<const HostImage> images, const HostImage* mask);

  [[nodiscard]] Shape shape() const { return {width, height, 1}; }
  [[nodiscard]] std::size_t pixels() const { return known.size(); }

  std::int64_t width = 0, height = 0;
  std::vector<Plane> frames;
  std::vector<std::uint8_t> known;
};

/// Subtracts the mean of a neighbourhood of 21 x 21 pixels, as far as they are known.
[[nodiscard]] Plane without_background(const PatternSamples& samples, const Plane& image);

/// The means of neighbourhoods of 2 radius + 1 pixels along both axes, as far as they are known.
[[nodiscard]] Plane smoothed(const PatternSamples& samples, const Plane& image,
                             std::int64_t radius);

/// Reduces the bands of an image's frequencies in which it has more variance than white noise would
/// that has as much in the finest band.
void limit_to_white(const PatternSamples& samples, Plane& image);

/// Subtracts from an image, in each band of its frequencies in which another image is stronger, the
/// part that is proportional to that image. Bands of shorter wavelengths, in pixels, stay.
void make_orthogonal(const PatternSamples& samples, Plane& image, const Plane& other,
                     double shortest);

/// Of two images at the pixels that are known: the mean squares and the mean product.
struct PlaneMoments {
  double first = 0, second = 0, product = 0;

  /// The correlation of images whose means are 0.
  [[nodiscard]] double correlation() const;
};
[[nodiscard]] PlaneMoments moments_of(const Plane& a, const Plane& b,
                                      std::span<const std::uint8_t> known);

/// The mean square of an image without its background.
[[nodiscard]] double structure_of(const PatternSamples& samples, const Plane& image);
/// A pattern that is less than this part of a scene's structure pulls a fit by less than this part
/// of the motion.
inline constexpr double notable_part = 0.01;

/// The median over the frames of each pixel.
[[nodiscard]] Plane temporal_median(const PatternSamples& samples);

/// How much of what the frames show has changed between them.
struct Change {
  double structure = 0;  ///< the mean square of what the mean over the frames shows
  double changed = 0;    ///< the mean square of structure by which frames differ from that mean
  double noise = 0;      ///< the mean square of what differs from pixel to pixel
};
[[nodiscard]] Change change_between(const PatternSamples& samples);

/// Over how many of 64 blocks the variance of an image is spread: the squared sum of the blocks'
/// shares over the sum of their squares.
[[nodiscard]] double spread_over_blocks(const PatternSamples& samples, const Plane& image);

}  // namespace warpalign::detail
