// How the levels of an image pyramid sample the image.
#pragma once

#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/geometry.hpp>

#include <cstdint>

namespace warpalign::detail {

/// How a level samples an image: every `spacing`-th pixel, centred on the image, and at most
/// `maximum` samples along each axis (0: no limit).
struct Sampling2d {
  double spacing = 1;
  std::int64_t maximum = 0;
  friend bool operator==(const Sampling2d&, const Sampling2d&) = default;
};

/// The shape of the level.
[[nodiscard]] Shape level_shape(const Shape& image, const Sampling2d& sampling);
/// Level pixels -> image pixels.
[[nodiscard]] Affine level_to_image(const Shape& image, const Sampling2d& sampling);
/// The low-pass filter that makes the level.
[[nodiscard]] SmoothSpec level_smoothing(PixelType type, const Shape& image, bool masked,
                                         const Sampling2d& sampling);

/// The spacing of the level on which an image's mean and deviation are measured.
[[nodiscard]] double measured_spacing(const Shape& image);

/// Contrast below this fraction of the image's own contrast is not amplified by the local
/// normalization.
inline constexpr double contrast_floor = 0.1;
inline constexpr double contrast_sigma = 3;  ///< of the normalization, in pixels of the level

/// A pixel of a level is a weighted mean of image pixels up to three pixels of the level away, so a
/// border in the image is wider by as much than it appears on the level.
inline constexpr int border_margin = 3;

}  // namespace warpalign::detail
