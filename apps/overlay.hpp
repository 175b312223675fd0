// A picture that shows at a glance whether two images fit.
#pragma once

#include "image_io/image_file.hpp"

#include <warpalign/geometry.hpp>

namespace warpalign::program {

/// Left the reference in green over the aligned image in magenta: gray where they agree. Right
/// the two as a checkerboard of about 8 x 8 fields. Where the moving image (of shape `moving`)
/// does not reach there is the dimmed reference alone. 8-bit RGB.
[[nodiscard]] LoadedImage draw_overlay(const LoadedImage& reference, const LoadedImage& aligned,
                                       const Affine& reference_to_moving, const Shape& moving);

}  // namespace warpalign::program
