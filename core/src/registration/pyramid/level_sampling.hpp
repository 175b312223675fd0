// The sampling of the levels of an image pyramid.
#pragma once

#include "registration/pyramid/intensity_statistics.hpp"

#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/geometry.hpp>

#include <cstdint>

namespace warpalign::detail {

/// A level has every `spacing`-th pixel, centred on the image, and at most `maximum` samples along
/// each axis (0: no limit).
struct Sampling2d {
  double spacing = 1;
  std::int64_t maximum = 0;
  friend bool operator==(const Sampling2d&, const Sampling2d&) = default;
};

/// The shape of the level.
[[nodiscard]] Shape level_shape(const Shape& image, const Sampling2d& sampling);
/// Level pixels -> image pixels.
[[nodiscard]] Affine level_to_image(const Shape& image, const Sampling2d& sampling);
/// The low-pass filter that produces the level.
[[nodiscard]] SmoothSpec level_smoothing(PixelType type, const Shape& image, bool masked,
                                         const Sampling2d& sampling);

/// The spacing of the level on which an image's mean and deviation are measured.
[[nodiscard]] double measured_spacing(const Shape& image);

/// The local normalization does not amplify contrast below this fraction of the image's own
/// contrast.
inline constexpr double contrast_floor = 0.1;
inline constexpr double contrast_sigma = 3;  ///< of the normalization, in pixels of the level
/// The levels for the normalization of an image with these statistics.
[[nodiscard]] LocalLevels local_levels_of(const IntensityStatistics& image) noexcept;

/// A pixel of a level is a weighted mean of image pixels up to three level pixels away, so a border
/// in the image is that much wider than it appears on the level.
inline constexpr int border_margin = 3;

}  // namespace warpalign::detail
