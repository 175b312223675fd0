// The orientation of a camera's image: finding it in a file's metadata, and applying it.
#pragma once

#include "io/codecs/codecs.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace warpalign::program {

/// A value of the tag Orientation (1 to 8) and where it stands, such as "the EXIF data".
struct FoundOrientation {
  const char* where;
  std::optional<int> value;
};

/// The orientation in a directory of TIFF or EXIF: a count and entries, from the start of
/// `directory` on. Nothing if the tag is missing or has no valid value.
[[nodiscard]] std::optional<int> directory_orientation(Bytes directory, bool big_endian, bool big);

/// The orientation in EXIF data, with or without the six bytes "Exif\0\0" in front.
[[nodiscard]] std::optional<int> exif_orientation(Bytes exif);

/// The orientation in an XMP packet.
[[nodiscard]] std::optional<int> xmp_orientation(std::string_view packet);

/// Notes the first orientation found, to be applied by make_upright(). If another one
/// contradicts it, the image's remark says so.
void note_orientation(const std::vector<FoundOrientation>& found, LoadedImage& image);

/// Reorders the pixels as the image's orientation demands. `orientation` keeps its value, which
/// then says what was applied.
void make_upright(LoadedImage& image);

}  // namespace warpalign::program
