// One page of a TIFF file: gray or RGB, in strips or tiles, interleaved or in planes. One sample
// beyond the colours is taken for alpha and dropped; the orientation tag is ignored.
#pragma once

#include "io/image_file.hpp"

#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace warpalign::program {

/// The parts of a page's header that decide how its pixels lie.
struct TiffPage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t samples = 1;  ///< of one pixel, alpha included
  int channels = 1;           ///< of them, those that are kept
  PixelType type = PixelType::u8;
  bool white_is_zero = false;
  bool planes = false;  ///< each sample in blocks of its own
  bool tiled = false;
  std::uint32_t block_width = 0;  ///< a block is a tile, or a strip of the image's width
  std::uint32_t block_height = 0;

  [[nodiscard]] std::size_t block_samples() const { return planes ? 1 : samples; }
  [[nodiscard]] std::size_t block_row_bytes() const {
    return block_width * block_samples() * size_of(type);
  }
};

/// What the pixels' types may be, and what to do with others.
struct TiffTypes {
  std::span<const PixelType> readable;
  const char* advice;
};

/// The page that libtiff stands at. `file_bytes`: the size of the file. Throws FileError for what
/// is not read, and where the page promises pixels that the file cannot hold.
[[nodiscard]] TiffPage describe_tiff_page(TIFF* tiff, const TiffTypes& types,
                                          std::uint64_t file_bytes);

/// The largest value minus each sample, for unsigned ones: where white is stored as zero.
void turn_black_and_white_over(LoadedImage& image);

/// Nothing where libtiff cannot decode a block.
[[nodiscard]] std::optional<LoadedImage> read_tiff_pixels(TIFF* tiff, const TiffPage& page);

}  // namespace warpalign::program
