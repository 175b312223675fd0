// The axes of a stack in OME-TIFF.
#pragma once

#include "io/frames/tiff_axes.hpp"

namespace warpalign::program {

[[nodiscard]] bool is_ome(const std::string& description);

/// Of the first image that is described. Throws FileError for a description that contradicts
/// itself, for one of more than `max_planes`, and for one that stands in another file.
[[nodiscard]] TiffAxes ome_axes(const std::string& xml, int samples_of_page,
                                const std::string& file_name, std::size_t max_planes);

}  // namespace warpalign::program
