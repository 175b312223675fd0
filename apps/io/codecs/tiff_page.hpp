// Decodes a page of a TIFF file: gray or RGB, in strips or tiles, interleaved or in planes. One
// extra sample is treated as alpha and dropped. The orientation tag is ignored.
#pragma once

#include "io/image_file.hpp"

#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace warpalign::program {

/// The members of a page's header that define the layout of the pixels.
struct TiffPage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t samples = 1;  ///< samples a pixel, including alpha
  int channels = 1;           ///< samples that are kept
  PixelType type = PixelType::u8;
  bool white_is_zero = false;
  bool planes = false;  ///< each sample has separate blocks
  bool tiled = false;
  std::uint32_t block_width = 0;  ///< a block is a tile, or a strip of the image's width
  std::uint32_t block_height = 0;

  [[nodiscard]] std::size_t block_samples() const { return planes ? 1 : samples; }
  [[nodiscard]] std::size_t block_row_bytes() const {
    return block_width * block_samples() * size_of(type);
  }
};

/// The supported pixel types, and advice for other types.
struct TiffTypes {
  std::span<const PixelType> readable;
  const char* advice;
};

/// Describes libtiff's current page. `file_bytes`: the size of the file. Throws FileError for an
/// unsupported page, and for one that claims more pixels than the file can hold.
[[nodiscard]] TiffPage describe_tiff_page(TIFF* tiff, const TiffTypes& types,
                                          std::uint64_t file_bytes);

/// Inverts unsigned samples (the largest value minus the sample), for pages that store white as 0.
void invert_samples(LoadedImage& image);

/// Decodes the page. Returns nothing if libtiff fails.
[[nodiscard]] std::optional<LoadedImage> read_tiff_pixels(TIFF* tiff, const TiffPage& page);

}  // namespace warpalign::program
