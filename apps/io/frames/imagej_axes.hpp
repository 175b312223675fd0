// Parses the axes of a stack that ImageJ has written.
#pragma once

#include "io/frames/tiff_axes.hpp"

namespace warpalign::program {

[[nodiscard]] bool is_imagej(const std::string& description);

/// Returns nothing if the description has no axes that match the number of pages. Throws FileError
/// for more than `max_planes` planes.
[[nodiscard]] std::optional<TiffAxes> imagej_axes(const std::string& description, std::size_t pages,
                                                  std::size_t max_planes);

}  // namespace warpalign::program
