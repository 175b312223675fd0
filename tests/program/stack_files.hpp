// Files with stacks, for the tests that read them. They are written by libtiff or byte by byte,
// never by the program's own writers.
#pragma once

#include "io/image_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace warpalign::test {

/// A gray image whose pixels depend on its number, their position and the type.
[[nodiscard]] program::LoadedImage numbered_frame(std::size_t number, const Shape& shape,
                                                  PixelType type, int channels = 1);

struct TiffStackKind {
  const char* mode = "w";  ///< the mode of TIFFOpen: "wb" big-endian, "w8" BigTIFF
  std::uint16_t compression = 1;
  bool tiled = false;
  std::string description = {};  ///< of the first page
};

/// One page for each frame.
void write_tiff_stack(const std::string& path, const std::vector<program::LoadedImage>& frames,
                      const TiffStackKind& kind = {});

/// The header of a TIFF and its only directory, for an uncompressed gray page of 16 bits whose
/// pixels follow immediately, as ImageJ writes it.
[[nodiscard]] std::string contiguous_head(const Shape& shape, bool big_endian,
                                          const std::string& description);

/// A video with 8-bit samples and colour sampling 4:2:0.
void write_y4m(const std::string& path, const std::vector<program::LoadedImage>& frames);

/// The bytes of all frames, one frame after the other.
[[nodiscard]] std::string bytes_of(const std::vector<program::LoadedImage>& frames);

/// A .npy file with this dictionary in its header, followed by these bytes.
void write_raw_npy(const std::string& path, const std::string& dictionary,
                   const std::string& numbers);

}  // namespace warpalign::test
