// Images as gray levels from 0 to 255, and back.
#pragma once

#include "io/image_file.hpp"

#include <span>
#include <vector>

namespace warpalign::program {

/// The luminance in 8-bit gray levels: 8-bit samples unchanged, 16-bit samples divided by 257,
/// floating-point samples times 255 (0 is black, 1 is white); for other integers the type's largest
/// value becomes 255.
[[nodiscard]] std::vector<float> gray_levels(const LoadedImage& image);

/// Converts gray levels to an 8-bit image, rounded to the nearest and saturated.
[[nodiscard]] LoadedImage gray_image(std::span<const float> levels, const Shape& shape);

/// The image with 8 bits a sample, in the same scale as gray_levels().
[[nodiscard]] LoadedImage to_8_bit(const LoadedImage& image);

}  // namespace warpalign::program
