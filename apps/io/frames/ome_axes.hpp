// Parses the axes of an OME-TIFF stack, and names its types.
#pragma once

#include "io/frames/tiff_axes.hpp"

#include <warpalign/pixel.hpp>

namespace warpalign::program {

[[nodiscard]] bool is_ome(const std::string& description);

/// OME's name of a pixel type, or null if it has none.
[[nodiscard]] const char* ome_type(PixelType type);

/// The axes of the first image in the description. Throws FileError if the description contradicts
/// itself, has more than `max_planes` planes, or is in another file.
[[nodiscard]] TiffAxes ome_axes(const std::string& xml, int samples_of_page,
                                const std::string& file_name, std::size_t max_planes);

}  // namespace warpalign::program
