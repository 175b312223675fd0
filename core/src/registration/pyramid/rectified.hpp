// Resamples an image to the frame of another one.
#pragma once

#include "registration/pyramid/grey_plane.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::detail {

struct RectifiedImage {
  GreyPlane values;
  std::vector<std::uint8_t> mask;  ///< 0 for ignored pixels
};

/// Resamples `moving` at the positions to which a transform maps the pixels of a reference. Each
/// result is the mean over the pixel's footprint, so that an image compressed along one direction
/// is smoothed along that direction only. `weights` are the weights of the pixels of `moving`, or
/// empty if there is no mask.
[[nodiscard]] RectifiedImage rectified(const GreyPlane& moving, const std::vector<float>& weights,
                                       const Homography& to_moving, const Shape& reference);

/// Whether the image has enough unmasked pixels, and contrast, to be registered.
[[nodiscard]] bool is_registrable(const RectifiedImage& image);

}  // namespace warpalign::detail
