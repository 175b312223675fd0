// Reads ImageJ's own tags from a page of a TIFF file.
#pragma once

#include "io/frames/recording_format.hpp"

#include <tiffio.h>

namespace warpalign::program {

inline constexpr std::uint16_t imagej_counts_tag = 50838;
inline constexpr std::uint16_t imagej_bytes_tag = 50839;

/// The tags, converted to little-endian order. `big_endian`: the order of the file. Empty if the
/// page has none, or if they contradict each other.
[[nodiscard]] ImageJTags read_imagej_tags(TIFF* tiff, bool big_endian);

}  // namespace warpalign::program
