// Decodes a page of a TIFF file: samples of any type and number of bits, in strips or tiles,
// interleaved or in planes, as gray levels, colours, a palette or inks.
#pragma once

#include "io/image_file.hpp"

#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::program {

/// What the samples of a page mean.
enum class TiffColour {
  levels,         ///< gray, red, green and blue, or other channels
  white_is_zero,  ///< gray, stored as its complement
  palette,        ///< indices of colours
  inks,           ///< cyan, magenta, yellow and black
  by_libtiff      ///< YCbCr, which libtiff converts to 8-bit RGB
};

/// The members of a page's header that define the layout of the pixels.
struct TiffPage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t samples = 1;        ///< samples a pixel, including alpha
  std::uint16_t bits = 8;           ///< of a sample
  std::vector<std::uint16_t> kept;  ///< the samples that are kept, without alpha
  int channels = 1;                 ///< of the image
  PixelType type = PixelType::u8;   ///< of the image
  TiffColour colour = TiffColour::levels;
  bool planes = false;  ///< each sample has separate blocks
  bool tiled = false;
  std::uint32_t block_width = 0;  ///< a block is a tile, or a strip of the image's width
  std::uint32_t block_height = 0;

  /// Whether the file has the image's samples as they are.
  [[nodiscard]] bool stores_image() const {
    return colour == TiffColour::levels && bits == 8 * size_of(type) && kept.size() == samples;
  }
  [[nodiscard]] std::size_t block_samples() const { return planes ? 1 : samples; }
  [[nodiscard]] std::size_t block_row_bytes() const {
    return (block_width * block_samples() * bits + 7) / 8;
  }
};

/// Describes libtiff's current page. `file_bytes`: the size of the file. Throws FileError for an
/// unsupported page, and for one that claims more pixels than the file can hold.
[[nodiscard]] TiffPage describe_tiff_page(TIFF* tiff, std::uint64_t file_bytes);

/// Decodes the page, with its orientation. Returns nothing if libtiff fails. Throws FileError for
/// integers of 64 bits that do not fit into 32.
[[nodiscard]] std::optional<LoadedImage> read_tiff_pixels(TIFF* tiff, const TiffPage& page);

/// The orientation that the page's tags give, and a remark if they contradict one another.
void note_tiff_orientation(TIFF* tiff, LoadedImage& image);

}  // namespace warpalign::program
