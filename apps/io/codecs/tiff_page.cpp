// Decodes a page of a TIFF file.
#include "io/codecs/tiff_page.hpp"

#include "io/codecs/codecs.hpp"
#include "io/codecs/orientation.hpp"
#include "io/codecs/tiff_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
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

/// The type of samples in memory. Integers of 64 bits become 32.
PixelType pixel_type(TIFF* tiff, unsigned bits) {
  const std::uint16_t format = short_number(tiff, TIFFTAG_SAMPLEFORMAT);
  const char* kind = "complex";
  if (format == SAMPLEFORMAT_IEEEFP) {
    kind = "floating-point";
    if (bits == 16) return PixelType::f16;
    if (bits == 32) return PixelType::f32;
    if (bits == 64) return PixelType::f64;
  } else if (format == SAMPLEFORMAT_INT) {
    kind = "signed";
    if (bits == 8) return PixelType::i8;
    if (bits == 16) return PixelType::i16;
    if (bits == 32 || bits == 64) return PixelType::i32;
  } else if (format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID) {
    kind = "unsigned";
    if (bits == 1 || bits == 2 || bits == 4 || bits == 8) return PixelType::u8;
    if (bits > 8 && bits <= 16) return PixelType::u16;
    if (bits == 32 || bits == 64) return PixelType::u32;
  }
  throw FileError(fmt::format(
      "is a TIFF with {}-bit {} samples; convert it to integers or floating point of 8 to 64 bits",
      bits, kind));
}

/// The photometric interpretation, after telling libtiff to convert JPEG data in YCbCr to RGB.
std::uint16_t photometric(TIFF* tiff) {
  std::uint16_t kind = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &kind);
  if (kind == PHOTOMETRIC_YCBCR && short_number(tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    return PHOTOMETRIC_RGB;
  }
  return kind;
}

/// The samples that are not alpha. One extra sample of a colour that the file does not describe
/// counts as alpha; other extra samples are channels.
void keep_samples(TIFF* tiff, TiffPage& page, std::uint16_t colours) {
  std::uint16_t extras = 0;
  std::uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
  for (std::uint16_t sample = 0; sample < page.samples; ++sample) {
    bool is_alpha = false;
    if (sample >= colours) {
      const int from_end = page.samples - sample;
      const std::uint16_t kind =
          kinds != nullptr && from_end <= extras ? kinds[extras - from_end] : 0;
      is_alpha = kind == EXTRASAMPLE_ASSOCALPHA || kind == EXTRASAMPLE_UNASSALPHA ||
                 (colours == 3 && page.samples == colours + 1);
    }
    if (!is_alpha) page.kept.push_back(sample);
  }
}

void require_samples(const TiffPage& page, std::uint16_t least, const char* kind) {
  if (page.samples < least) {
    throw damaged(fmt::format("it is {}, but has {} samples a pixel", kind, page.samples));
  }
}

void read_inks(TIFF* tiff, TiffPage& page) {
  require_samples(page, 4, "CMYK");
  if (short_number(tiff, TIFFTAG_INKSET) != INKSET_CMYK) {
    throw FileError("is a TIFF of inks that are not CMYK; convert it to RGB");
  }
  if (page.type != PixelType::u8 && page.type != PixelType::u16) {
    throw FileError("is a CMYK TIFF that has neither 8 nor 16 bits; convert it to RGB");
  }
  if (page.bits != 8 && page.bits != 16) {
    throw FileError(fmt::format("is a CMYK TIFF of {} bits; convert it to RGB", page.bits));
  }
  page.colour = TiffColour::inks;
  page.channels = 3;
  page.kept = {0, 1, 2, 3};
}

void read_palette(TiffPage& page) {
  if (page.type != PixelType::u8 && page.type != PixelType::u16) {
    throw FileError("is a TIFF with a palette and unusual indices; convert it to RGB");
  }
  page.colour = TiffColour::palette;
  page.channels = 3;
  page.type = PixelType::u8;
  page.kept = {0};
}

void read_by_libtiff(TIFF* tiff, TiffPage& page) {
  char why[1024] = "";
  if (TIFFRGBAImageOK(tiff, why) != 1) {
    throw FileError(
        fmt::format("is a TIFF of a kind that cannot be converted ({}); convert it to "
                    "gray or RGB",
                    why));
  }
  page.colour = TiffColour::by_libtiff;
  page.channels = 3;
  page.type = PixelType::u8;
  page.kept = {0, 1, 2};
}

void read_colours(TIFF* tiff, TiffPage& page) {
  const std::uint16_t kind = photometric(tiff);
  switch (kind) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
      keep_samples(tiff, page, 1);
      break;
    case PHOTOMETRIC_RGB:
      require_samples(page, 3, "RGB");
      keep_samples(tiff, page, 3);
      break;
    case PHOTOMETRIC_PALETTE:
      return read_palette(page);
    case PHOTOMETRIC_SEPARATED:
      return read_inks(tiff, page);
    case PHOTOMETRIC_YCBCR:
      return read_by_libtiff(tiff, page);
    default:
      throw FileError(
          "is a TIFF that is neither gray, RGB, CMYK nor has a palette; convert it to one of them");
  }
  if (kind == PHOTOMETRIC_MINISWHITE) {
    const char sort = *name_of(page.type);
    if (sort != 'u' || page.bits == 64) {
      throw FileError(fmt::format("is a {} TIFF with white as zero; save it with black as zero",
                                  sort == 'f'   ? "floating-point"
                                  : sort == 'i' ? "signed"
                                                : "64-bit"));
    }
    page.colour = TiffColour::white_is_zero;
  }
  if (page.kept.size() > static_cast<std::size_t>(max_channels)) {
    throw FileError(fmt::format("is a TIFF with {} samples a pixel; the limit is {}", page.samples,
                                max_channels));
  }
  page.channels = static_cast<int>(page.kept.size());
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
  if (page.colour == TiffColour::by_libtiff) return;
  const tmsize_t row = page.tiled ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff);
  if (row != static_cast<tmsize_t>(page.block_row_bytes())) {
    throw FileError("is a TIFF whose pixels are packed in an unusual way; save it uncompressed");
  }
}

void check_compression(TIFF* tiff) {
  const std::uint16_t compression = short_number(tiff, TIFFTAG_COMPRESSION);
  if (TIFFIsCODECConfigured(compression) == 1) return;
  const TIFFCodec* codec = TIFFFindCODEC(compression);
  throw FileError(fmt::format(
      "is compressed by {}, which this libtiff does not have; save it with Deflate or LZW",
      codec != nullptr ? codec->name : fmt::format("method {}", compression)));
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
      (std::uint64_t{page.width} * page.height * page.samples * page.bits + 7) / 8;
  const std::uint64_t block = std::uint64_t{page.block_row_bytes()} * page.block_height;
  const std::uint64_t promised = std::max(pixels, block);
  refuse_bomb({page.width, page.height, promised, promised, stored_bytes(tiff, page, file_bytes)});
}

/// The kept samples of a page in memory.
struct Samples {
  std::size_t sample = 1;  ///< bytes of one
  std::size_t pixel = 1;   ///< bytes of a pixel's
  std::size_t row = 1;     ///< bytes of a row's
  std::vector<std::byte> bytes;
};

/// Copies a decoded block to (x, y). `plane`: its sample, if samples are in separate planes.
void place_block(const TiffPage& page, const std::vector<std::byte>& block, std::uint32_t x,
                 std::uint32_t y, std::uint16_t plane, Samples& to) {
  const std::size_t from_pixel = page.block_samples() * to.sample;
  const std::uint32_t columns = std::min(page.block_width, page.width - x);
  const std::uint32_t rows = std::min(page.block_height, page.height - y);
  const bool packed = page.bits % 8 != 0;
  std::vector<std::byte> unpacked(packed ? page.block_width * from_pixel : 0);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::byte* from = block.data() + row * page.block_row_bytes();
    if (packed) {
      unpack_bits({from, page.block_row_bytes()}, page, columns * page.block_samples(),
                  unpacked.data());
      from = unpacked.data();
    }
    std::byte* target = to.bytes.data() + (y + row) * to.row + x * to.pixel;
    const bool whole = from_pixel == to.pixel && !page.planes;
    if (whole) {
      std::memcpy(target, from, columns * to.pixel);
      continue;
    }
    for (std::uint32_t column = 0; column < columns; ++column) {
      for (std::size_t c = 0; c < page.kept.size(); ++c) {
        if (page.planes && c != plane) continue;
        const std::size_t at = page.planes ? 0 : page.kept[c] * to.sample;
        std::memcpy(target + column * to.pixel + c * to.sample, from + column * from_pixel + at,
                    to.sample);
      }
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

/// Decodes all blocks. Returns false if libtiff fails.
bool read_samples(TIFF* tiff, const TiffPage& page, Samples& samples) {
  std::vector<std::byte> block(page.block_row_bytes() * page.block_height);
  const std::size_t planes = page.planes ? page.kept.size() : 1;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const auto stored = static_cast<std::uint16_t>(page.planes ? page.kept[plane] : 0);
    for (std::uint32_t y = 0; y < page.height; y += page.block_height) {
      for (std::uint32_t x = 0; x < page.width; x += page.block_width) {
        if (!read_block(tiff, page, x, y, stored, block)) return false;
        place_block(page, block, x, y, static_cast<std::uint16_t>(plane), samples);
      }
    }
  }
  return true;
}

/// libtiff's own conversion, without its orientation.
std::optional<LoadedImage> read_converted(TIFF* tiff, const TiffPage& page) {
  char why[1024] = "";
  TIFFRGBAImage converter{};
  if (TIFFRGBAImageBegin(&converter, tiff, 1, why) != 1) return {};
  converter.req_orientation = converter.orientation;
  std::vector<std::uint32_t> pixels(std::size_t{page.width} * page.height);
  const int got = TIFFRGBAImageGet(&converter, pixels.data(), page.width, page.height);
  TIFFRGBAImageEnd(&converter);
  if (got != 1) return {};
  LoadedImage image = make_image(page.width, page.height, 3, PixelType::u8);
  std::uint8_t* to = image.samples<std::uint8_t>().data();
  for (const std::uint32_t pixel : pixels) {
    *to++ = TIFFGetR(pixel);
    *to++ = TIFFGetG(pixel);
    *to++ = TIFFGetB(pixel);
  }
  return image;
}

/// The start of the directory of EXIF data, which libtiff would have to make its current one.
std::vector<std::byte> exif_directory(TIFF* tiff) {
  toff_t offset = 0;
  if (TIFFGetField(tiff, TIFFTAG_EXIFIFD, &offset) != 1) return {};
  constexpr std::size_t enough = 8 + 64 * 20;  // the orientation is among the lowest tags
  std::vector<std::byte> bytes(enough);
  const thandle_t file = TIFFClientdata(tiff);
  TIFFGetSeekProc(tiff)(file, offset, SEEK_SET);
  const tmsize_t got =
      TIFFGetReadProc(tiff)(file, bytes.data(), static_cast<tmsize_t>(bytes.size()));
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

}  // namespace

TiffPage describe_tiff_page(TIFF* tiff, std::uint64_t file_bytes) {
  TiffPage page;
  page.width = number(tiff, TIFFTAG_IMAGEWIDTH);
  page.height = number(tiff, TIFFTAG_IMAGELENGTH);
  check_sides(page.width, page.height);
  page.samples = short_number(tiff, TIFFTAG_SAMPLESPERPIXEL);
  page.bits = short_number(tiff, TIFFTAG_BITSPERSAMPLE);
  check_compression(tiff);
  page.type = pixel_type(tiff, page.bits);
  read_colours(tiff, page);
  read_blocks(tiff, page);
  refuse_tiff_bomb(tiff, page, file_bytes);
  return page;
}

std::optional<LoadedImage> read_tiff_pixels(TIFF* tiff, const TiffPage& page) {
  std::optional<LoadedImage> image;
  if (page.colour == TiffColour::by_libtiff) {
    image = read_converted(tiff, page);
  } else {
    Samples samples;
    samples.sample = unpacked_bytes(page);
    samples.pixel = samples.sample * page.kept.size();
    samples.row = samples.pixel * page.width;
    samples.bytes.resize(samples.row * page.height);
    if (!read_samples(tiff, page, samples)) return {};
    image = image_of_samples(tiff, page, std::move(samples.bytes));
  }
  if (!image) return {};
  note_tiff_orientation(tiff, *image);
  return image;
}

void note_tiff_orientation(TIFF* tiff, LoadedImage& image) {
  std::optional<int> tag;
  std::uint16_t value = 0;
  if (TIFFGetField(tiff, TIFFTAG_ORIENTATION, &value) == 1 && value >= 1 && value <= 8) tag = value;
  const bool big_endian = TIFFIsBigEndian(tiff) != 0;
  const bool big = TIFFIsBigTIFF(tiff) != 0;
  const std::vector<std::byte> exif = exif_directory(tiff);
  std::uint32_t bytes = 0;
  void* packet = nullptr;
  std::optional<int> xmp;
  if (TIFFGetField(tiff, TIFFTAG_XMLPACKET, &bytes, &packet) == 1 && packet != nullptr) {
    xmp = xmp_orientation({static_cast<const char*>(packet), bytes});
  }
  note_orientation({{"the TIFF tag", tag},
                    {"the EXIF data", directory_orientation(exif, big_endian, big)},
                    {"the XMP data", xmp}},
                   image);
}

}  // namespace warpalign::program
