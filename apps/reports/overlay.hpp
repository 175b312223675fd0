// A picture that shows how well two images fit.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/geometry.hpp>

#include <functional>

namespace warpalign::program {

/// Left: the reference in green over the aligned image in magenta, gray where they agree. Right: a
/// checkerboard of both with about 8 x 8 fields. Outside the moving image (of shape `moving`) only
/// the dimmed reference is visible. 8-bit RGB.
[[nodiscard]] LoadedImage draw_overlay(const LoadedImage& reference, const LoadedImage& aligned,
                                       const Homography& reference_to_moving, const Shape& moving);

/// The same for a separate moving position of each reference pixel.
using PixelMap = std::function<Point(std::int64_t x, std::int64_t y)>;
[[nodiscard]] LoadedImage draw_mapped_overlay(const LoadedImage& reference,
                                              const LoadedImage& aligned,
                                              const PixelMap& reference_to_moving,
                                              const Shape& moving);

}  // namespace warpalign::program
