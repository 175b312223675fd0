// Decodes a page of a TIFF file.
#include "io/codecs/tiff_page.hpp"

#include "io/codecs/codecs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace warpalign::program {
namespace {

std::uint32_t number(TIFF* tiff, std::uint32_t tag) {
  std::uint32_t value = 0;
  TIFFGetFieldDefaulted(tiff, tag, &value);
  return value;
}

std::uint16_t short_number(TIFF* tiff, std::uint32_t tag) {
  std::uint16_t value = 0;
  TIFFGetFieldDefaulted(tiff, tag, &value);
  return value;
}

std::string kind_of(TIFF* tiff) {
  const std::uint16_t format = short_number(tiff, TIFFTAG_SAMPLEFORMAT);
  const bool is_unsigned = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
  const char* kind = format == SAMPLEFORMAT_IEEEFP ? "floating-point"
                     : is_unsigned                 ? "unsigned"
                     : format == SAMPLEFORMAT_INT  ? "signed"
                                                   : "complex";
  return fmt::format("{}-bit {}", short_number(tiff, TIFFTAG_BITSPERSAMPLE), kind);
}

PixelType pixel_type(TIFF* tiff, const TiffTypes& types) {
  const std::string kind = kind_of(tiff);
  for (const PixelType type : types.readable) {
    const char sort = *name_of(type);
    const char* word = sort == 'u' ? "unsigned" : sort == 'i' ? "signed" : "floating-point";
    if (kind == fmt::format("{}-bit {}", 8 * size_of(type), word)) return type;
  }
  throw FileError(fmt::format("is a TIFF with {} samples; {}", kind, types.advice));
}

/// Makes libtiff convert JPEG data in YCbCr to RGB.
std::uint16_t photometric(TIFF* tiff) {
  std::uint16_t kind = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &kind);
  if (kind == PHOTOMETRIC_YCBCR && short_number(tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    return PHOTOMETRIC_RGB;
  }
  return kind;
}

void read_colours(TIFF* tiff, TiffPage& page) {
  const std::uint16_t kind = photometric(tiff);
  if (kind != PHOTOMETRIC_MINISBLACK && kind != PHOTOMETRIC_MINISWHITE && kind != PHOTOMETRIC_RGB) {
    throw FileError("is a TIFF that is neither gray nor RGB; convert it to one of them");
  }
  page.channels = kind == PHOTOMETRIC_RGB ? 3 : 1;
  page.white_is_zero = kind == PHOTOMETRIC_MINISWHITE;
  const char sort = *name_of(page.type);
  if (page.white_is_zero && sort != 'u') {
    throw FileError(fmt::format("is a {} TIFF with white as zero; save it with black as zero",
                                sort == 'f' ? "floating-point" : "signed"));
  }
  if (page.samples != page.channels && page.samples != page.channels + 1) {
    throw FileError(fmt::format(
        "is a TIFF with {} samples a pixel; convert it to gray or RGB, with or without alpha",
        page.samples));
  }
}

void read_blocks(TIFF* tiff, TiffPage& page) {
  page.planes =
      page.samples > 1 && short_number(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
  page.tiled = TIFFIsTiled(tiff) != 0;
  page.block_width = page.tiled ? number(tiff, TIFFTAG_TILEWIDTH) : page.width;
  page.block_height = page.tiled ? number(tiff, TIFFTAG_TILELENGTH)
                                 : std::min(number(tiff, TIFFTAG_ROWSPERSTRIP), page.height);
  if (page.block_width < 1 || page.block_height < 1 || page.block_width > max_side ||
      page.block_height > max_side) {
    throw FileError(fmt::format("is a TIFF in tiles of {} x {} pixels; save it in smaller ones",
                                page.block_width, page.block_height));
  }
  const tmsize_t row = page.tiled ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff);
  if (row != static_cast<tmsize_t>(page.block_row_bytes())) {
    throw FileError("is a TIFF whose pixels are packed in an unusual way; save it uncompressed");
  }
}

/// The total size of a page's compressed blocks in the file.
std::uint64_t stored_bytes(TIFF* tiff, const TiffPage& page, std::uint64_t file_bytes) {
  const std::uint32_t blocks = page.tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  std::uint64_t stored = 0;
  for (std::uint32_t block = 0; block < blocks && stored < file_bytes; ++block) {
    const std::uint64_t offset = std::min(file_bytes, TIFFGetStrileOffset(tiff, block));
    stored += std::min(file_bytes - offset, TIFFGetStrileByteCount(tiff, block));
  }
  return stored;
}

/// The size of a block, which may be larger than its page and is allocated completely.
void refuse_tiff_bomb(TIFF* tiff, const TiffPage& page, std::uint64_t file_bytes) {
  const std::uint64_t pixels =
      std::uint64_t{page.width} * page.height * page.samples * size_of(page.type);
  const std::uint64_t block = std::uint64_t{page.block_row_bytes()} * page.block_height;
  const std::uint64_t promised = std::max(pixels, block);
  refuse_bomb({page.width, page.height, promised, promised, stored_bytes(tiff, page, file_bytes)});
}

/// Copies a decoded block to (x, y). `plane`: its sample, if samples are in separate planes.
void place_block(const TiffPage& page, const std::vector<std::byte>& block, std::uint32_t x,
                 std::uint32_t y, std::uint16_t plane, LoadedImage& image) {
  const std::size_t sample = size_of(page.type);
  const std::size_t kept = page.planes ? sample : sample * static_cast<std::size_t>(page.channels);
  const std::size_t from_step = page.block_samples() * sample;
  const std::size_t to_step = static_cast<std::size_t>(page.channels) * sample;
  const std::uint32_t columns = std::min(page.block_width, page.width - x);
  const std::uint32_t rows = std::min(page.block_height, page.height - y);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::byte* from = block.data() + row * page.block_row_bytes();
    std::byte* to =
        image.pixels.data() + (y + row) * image.row_bytes() + x * to_step + plane * sample;
    for (std::uint32_t column = 0; column < columns; ++column) {
      std::memcpy(to + column * to_step, from + column * from_step, kept);
    }
  }
}

bool read_block(TIFF* tiff, const TiffPage& page, std::uint32_t x, std::uint32_t y,
                std::uint16_t plane, std::vector<std::byte>& block) {
  const std::uint32_t rows =
      page.tiled ? page.block_height : std::min(page.block_height, page.height - y);
  const auto wanted = static_cast<tmsize_t>(rows * page.block_row_bytes());
  const tmsize_t got =
      page.tiled
          ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, plane), block.data(), wanted)
          : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y, plane), block.data(), wanted);
  return got == wanted;
}

/// Decodes a block. Returns false if libtiff fails.
bool read_pixels(TIFF* tiff, const TiffPage& page, LoadedImage& image) {
  std::vector<std::byte> block(page.block_row_bytes() * page.block_height);
  const auto planes = static_cast<std::uint16_t>(page.planes ? page.channels : 1);
  for (std::uint16_t plane = 0; plane < planes; ++plane) {
    for (std::uint32_t y = 0; y < page.height; y += page.block_height) {
      for (std::uint32_t x = 0; x < page.width; x += page.block_width) {
        if (!read_block(tiff, page, x, y, plane, block)) return false;
        place_block(page, block, x, y, plane, image);
      }
    }
  }
  return true;
}

}  // namespace

TiffPage describe_tiff_page(TIFF* tiff, const TiffTypes& types, std::uint64_t file_bytes) {
  TiffPage page;
  page.width = number(tiff, TIFFTAG_IMAGEWIDTH);
  page.height = number(tiff, TIFFTAG_IMAGELENGTH);
  check_sides(page.width, page.height);
  page.samples = short_number(tiff, TIFFTAG_SAMPLESPERPIXEL);
  page.type = pixel_type(tiff, types);
  read_colours(tiff, page);
  read_blocks(tiff, page);
  refuse_tiff_bomb(tiff, page, file_bytes);
  return page;
}

// The largest value minus the sample equals the sample with every bit inverted.
void invert_samples(LoadedImage& image) {
  for (std::byte& byte : image.pixels) byte = ~byte;
}

std::optional<LoadedImage> read_tiff_pixels(TIFF* tiff, const TiffPage& page) {
  LoadedImage image = make_image(page.width, page.height, page.channels, page.type);
  if (!read_pixels(tiff, page, image)) return {};
  if (page.white_is_zero) invert_samples(image);
  return image;
}

}  // namespace warpalign::program
