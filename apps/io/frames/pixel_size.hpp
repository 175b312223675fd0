// The size of the voxels of a recording, from its metadata.
#pragma once

#include "io/frames/recording_format.hpp"

#include <array>
#include <optional>

namespace warpalign::program {

/// The distances between samples along x, y and z in micrometres. Those that the metadata does not
/// tell, or not as a positive length, are empty.
struct PixelSize {
  std::array<std::optional<double>, 3> um;
};

/// From the description of OME, or from that of ImageJ and the resolution.
[[nodiscard]] PixelSize pixel_size_of(const RecordingFormat& format);

}  // namespace warpalign::program
