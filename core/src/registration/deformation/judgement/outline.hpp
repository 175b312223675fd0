// The outline of what an image shows: a threshold, and distances from its contour.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Distances from an outline are computed up to this one, in pixels.
constexpr std::int64_t farthest_from_outline = 16;

/// The image or volume, smoothed by a Gaussian of this standard deviation in pixels, at most 4. Its
/// border continues outwards.
[[nodiscard]] std::vector<float> gaussian_smoothed(std::span<const float> image, const Shape& shape,
                                                   double sigma);

/// The threshold that divides the known values into two classes with the greatest variance between
/// them (Otsu 1979). `known`: 1, or 0 for pixels that are ignored.
[[nodiscard]] float otsu_threshold(std::span<const float> values, std::span<const float> known);

/// The distance to the nearest pixel where `inside` is not `from`, in pixels, at most
/// farthest_from_outline.
[[nodiscard]] std::vector<float> distances_from(const std::vector<bool>& inside, bool from,
                                                const Shape& shape);

}  // namespace warpalign::detail
