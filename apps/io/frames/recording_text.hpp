// Writes ImageJ's and OME's descriptions of the axes of a TIFF stack.
#pragma once

#include "io/frames/recording_format.hpp"

#include <cstddef>
#include <string>

namespace warpalign::program {

/// The description of a file whose pages are the planes of `frames` frames, frame by frame and the
/// channels of each slice together: that of `format` with the new numbers. Empty for
/// Metadata::none.
[[nodiscard]] std::string recording_text(const RecordingFormat& format, std::size_t frames);

/// Fills a description with blanks that do not change its meaning, up to a length.
[[nodiscard]] std::string padded_text(const RecordingFormat& format, std::string text,
                                      std::size_t length);

}  // namespace warpalign::program
