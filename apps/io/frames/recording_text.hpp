// Writes ImageJ's and OME's descriptions of the axes of a TIFF stack.
#pragma once

#include "io/frames/recording_format.hpp"
#include "io/image_file.hpp"

#include <cstddef>
#include <string>

namespace warpalign::program {

/// A format whose frames have several planes gets a description if it has none: ImageJ's, or OME's
/// for pixels that ImageJ does not read. There is none for 16-bit floating point. `plane`: any
/// plane, for its shape and type.
[[nodiscard]] RecordingFormat with_description(RecordingFormat format, const LoadedImage& plane);

/// The description of a file whose pages are the planes of `frames` frames, frame by frame and the
/// channels of each slice together: that of `format` with the new numbers. Empty for
/// Metadata::none.
[[nodiscard]] std::string recording_text(const RecordingFormat& format, std::size_t frames);

/// Fills a description with blanks that do not change its meaning, up to a length.
[[nodiscard]] std::string padded_text(const RecordingFormat& format, std::string text,
                                      std::size_t length);

}  // namespace warpalign::program
