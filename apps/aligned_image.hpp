// The moving image on the reference's grid.
#pragma once

#include "image_io/image_file.hpp"

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

namespace warpalign::program {

/// Warps `moving` on the device, channel by channel, to the reference's size; 0 outside of it.
/// The result has the moving image's channels and pixel type.
[[nodiscard]] LoadedImage align_image(const Device& device, const LoadedImage& moving,
                                      const Affine& reference_to_moving, const Shape& reference);

}  // namespace warpalign::program
