// Measures how sharp and textured a frame is.
#pragma once

#include "io/image_file.hpp"

#include <optional>

namespace warpalign::program {

/// The mean square gradient of the smoothed luminance, less what white noise contributes, in the
/// frame's own units. It is about 0 for an image of noise, 0 for a constant one, and -1 for an
/// image with NaN or infinities. The noise is estimated from second differences (Immerkaer 1996).
/// `mask`: 0 where pixels are ignored.
[[nodiscard]] double texture_of(const LoadedImage& frame, const std::optional<LoadedImage>& mask);

}  // namespace warpalign::program
