// Masks for images in which a value stands for missing pixels.
#pragma once

#include "io/image_file.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace warpalign::program {

/// Throws UsageError if no sample of the type can have the value of --nodata.
void check_nodata(double nodata, PixelType type);

/// Sets the marks of a mask to 0 where `known` is 0. Returns how many were not 0 before. Throws
/// UsageError, naming `what`, if none is left.
std::int64_t exclude_unknown(std::span<const std::uint8_t> known, const std::string& what,
                             std::span<std::uint8_t> marks);

/// Excludes the pixels of which every channel is missing, NaN, infinite or `nodata`, from the mask:
/// 255 where a pixel counts. Makes the mask if there is none and pixels are missing. Returns and
/// throws as exclude_unknown() does.
std::int64_t mask_missing(const LoadedImage& image, double nodata, const std::string& what,
                          std::optional<LoadedImage>& mask);

/// The gray levels of an image, from 0 to 1 for integer types, with NaN in the pixels of which
/// every channel is missing, as mask_missing() has it.
[[nodiscard]] LoadedImage with_nan(const LoadedImage& image, double nodata);

}  // namespace warpalign::program
