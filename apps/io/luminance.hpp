// Colour to gray.
#pragma once

#include "io/image_file.hpp"

namespace warpalign::program {

/// The image's luminance in its own pixel type: 0.2126 red + 0.7152 green + 0.0722 blue (ITU-R
/// BT.709), applied to the samples as they are stored. Gray images come back as they are.
[[nodiscard]] LoadedImage luminance(const LoadedImage& image);

}  // namespace warpalign::program
