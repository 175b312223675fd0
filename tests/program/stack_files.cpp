// Files with stacks, for the tests that read them.
#include "program/stack_files.hpp"

#include "program/run_program.hpp"

#include <tiffio.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace warpalign::test {
namespace {

using program::LoadedImage;

template <typename Sample>
void number_samples(LoadedImage& image, std::size_t number, double scale) {
  auto samples = image.samples<Sample>();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t value = (7 * i + 31 * number) % 120;
    samples[i] = static_cast<Sample>(static_cast<double>(value) * scale);
  }
}

void describe_page(TIFF* tiff, const LoadedImage& frame, const TiffStackKind& kind) {
  const char sort = *name_of(frame.type);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(frame.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(frame.height));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, frame.channels);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_of(frame.type)));
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
               sort == 'u'   ? SAMPLEFORMAT_UINT
               : sort == 'i' ? SAMPLEFORMAT_INT
                             : SAMPLEFORMAT_IEEEFP);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               frame.channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  if (kind.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 7);
  }
}

void write_tiles(TIFF* tiff, const LoadedImage& frame) {
  const std::size_t pixel = size_of(frame.type) * static_cast<std::size_t>(frame.channels);
  for (std::int64_t y = 0; y < frame.height; y += 16) {
    for (std::int64_t x = 0; x < frame.width; x += 16) {
      std::vector<std::byte> tile(256 * pixel);
      const auto columns = static_cast<std::size_t>(std::min<std::int64_t>(16, frame.width - x));
      for (std::int64_t row = 0; row < std::min<std::int64_t>(16, frame.height - y); ++row) {
        const std::size_t from = static_cast<std::size_t>((y + row) * frame.width + x) * pixel;
        std::memcpy(tile.data() + static_cast<std::size_t>(row) * 16 * pixel,
                    frame.pixels.data() + from, columns * pixel);
      }
      REQUIRE(TIFFWriteTile(tiff, tile.data(), static_cast<std::uint32_t>(x),
                            static_cast<std::uint32_t>(y), 0, 0) > 0);
    }
  }
}

void write_rows(TIFF* tiff, const LoadedImage& frame) {
  std::vector<std::byte> row(frame.row_bytes());
  for (std::int64_t y = 0; y < frame.height; ++y) {
    std::memcpy(row.data(), frame.pixels.data() + static_cast<std::size_t>(y) * row.size(),
                row.size());
    REQUIRE(TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0) == 1);
  }
}

}  // namespace

LoadedImage numbered_frame(std::size_t number, const Shape& shape, PixelType type, int channels) {
  LoadedImage image = program::make_image(shape.width, shape.height, channels, type);
  if (type == PixelType::u8) number_samples<std::uint8_t>(image, number, 2);
  if (type == PixelType::i8) number_samples<std::int8_t>(image, number, -1);
  if (type == PixelType::u16) number_samples<std::uint16_t>(image, number, 541);
  if (type == PixelType::i16) number_samples<std::int16_t>(image, number, -271);
  if (type == PixelType::u32) number_samples<std::uint32_t>(image, number, 35'000'001);
  if (type == PixelType::i32) number_samples<std::int32_t>(image, number, -17'000'003);
  // the bits of a half
  if (type == PixelType::f16) number_samples<std::uint16_t>(image, number, 255);
  if (type == PixelType::f32) number_samples<float>(image, number, 0.37);
  if (type == PixelType::f64) number_samples<double>(image, number, 0.37);
  return image;
}

void write_tiff_stack(const std::string& path, const std::vector<LoadedImage>& frames,
                      const TiffStackKind& kind) {
  TIFF* tiff = TIFFOpen(path.c_str(), kind.mode);
  REQUIRE(tiff != nullptr);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    describe_page(tiff, frames[i], kind);
    if (i == 0 && !kind.description.empty()) {
      TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, kind.description.c_str());
    }
    if (kind.tiled) write_tiles(tiff, frames[i]);
    if (!kind.tiled) write_rows(tiff, frames[i]);
    REQUIRE(TIFFWriteDirectory(tiff) == 1);
  }
  TIFFClose(tiff);
}

std::string bytes_of(const std::vector<LoadedImage>& frames) {
  std::string bytes;
  for (const LoadedImage& frame : frames) {
    bytes.append(reinterpret_cast<const char*>(frame.pixels.data()), frame.pixels.size());
  }
  return bytes;
}

std::string contiguous_head(const Shape& shape, bool big_endian, const std::string& description) {
  std::string file = big_endian ? std::string("MM\0*", 4) : std::string("II*\0", 4);
  const auto put = [&](std::size_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t byte_index = big_endian ? bytes - 1 - i : i;
      file += static_cast<char>(value >> 8 * byte_index & 0xffU);
    }
  };
  const auto entry = [&](std::size_t tag, std::size_t bytes, std::size_t count, std::size_t value) {
    const std::size_t width = bytes == 2 ? 2 : 4;
    put(tag, 2);
    put(bytes == 1 ? TIFF_ASCII : bytes == 2 ? TIFF_SHORT : TIFF_LONG, 2);
    put(count, 4);
    put(value, width);
    put(0, 4 - width);
  };
  const std::size_t text = 8 + 2 + 9 * 12 + 4;
  const std::size_t pixels = text + description.size() + 1;
  put(8, 4);
  put(9, 2);
  entry(TIFFTAG_IMAGEWIDTH, 4, 1, static_cast<std::size_t>(shape.width));
  entry(TIFFTAG_IMAGELENGTH, 4, 1, static_cast<std::size_t>(shape.height));
  entry(TIFFTAG_BITSPERSAMPLE, 2, 1, 16);
  entry(TIFFTAG_COMPRESSION, 2, 1, COMPRESSION_NONE);
  entry(TIFFTAG_PHOTOMETRIC, 2, 1, PHOTOMETRIC_MINISBLACK);
  entry(TIFFTAG_IMAGEDESCRIPTION, 1, description.size() + 1, text);
  entry(TIFFTAG_STRIPOFFSETS, 4, 1, pixels);
  entry(TIFFTAG_ROWSPERSTRIP, 4, 1, static_cast<std::size_t>(shape.height));
  entry(TIFFTAG_STRIPBYTECOUNTS, 4, 1, static_cast<std::size_t>(2 * shape.plane()));
  put(0, 4);
  return file + description + '\0';
}

void write_y4m(const std::string& path, const std::vector<LoadedImage>& frames) {
  const LoadedImage& first = frames.front();
  std::string video =
      fmt::format("YUV4MPEG2 W{} H{} F25:1 Ip A1:1 C420jpeg\n", first.width, first.height);
  const auto chroma =
      static_cast<std::size_t>(2 * ((first.width + 1) / 2) * ((first.height + 1) / 2));
  for (const LoadedImage& frame : frames) {
    video += "FRAME\n" + bytes_of({frame}) + std::string(chroma, '\x80');
  }
  write_text(path, video);
}

void write_raw_npy(const std::string& path, const std::string& dictionary,
                   const std::string& numbers) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size() & 0xffU);
  file += static_cast<char>(dictionary.size() >> 8U);
  write_text(path, file + dictionary + numbers);
}

}  // namespace warpalign::test
