// Masks for images in which a value stands for missing pixels.
#pragma once

#include "io/image_file.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace warpalign::program {

/// Throws UsageError if no sample of the type can have the value of --nodata.
void check_nodata(double nodata, PixelType type);

/// Excludes the pixels of which every channel is missing, NaN, infinite or `nodata`, in the mask:
/// 255 where a pixel counts. Makes the mask if there is none and pixels are missing. Returns how
/// many pixels that were not masked before are excluded. Throws UsageError, naming `what`, if none
/// is left.
std::int64_t mask_missing(const LoadedImage& image, double nodata, const std::string& what,
                          std::optional<LoadedImage>& mask);

}  // namespace warpalign::program
