// How well two images on the same grid agree, at each pixel.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace warpalign {

/// The normalised correlation, -1 to 1, of the windows (5 pixels wide) about each pixel of an image
/// or volume and of another one that has been aligned with it. It is independent of the gain and
/// the offset of the intensities. NaN marks pixels where nothing tells whether the images agree:
/// neither image has structure above its noise in the window, or most of the window is unknown.
///
/// `reference` and `warped` have a value for each pixel of `shape`; values that are not finite are
/// unknown, as are those where `mask`, if it is not empty, is 0. The noise is estimated from
/// differences of neighbours. Runs on the host. Throws Error(invalid_argument) for other lengths.
[[nodiscard]] WARPALIGN_API std::vector<float> local_agreement(
    std::span<const float> reference, std::span<const float> warped, const Shape& shape,
    std::span<const std::uint8_t> mask = {});

}  // namespace warpalign
