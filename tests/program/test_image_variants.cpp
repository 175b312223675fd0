// Reads variants that our own writers never produce: palettes, alpha, few bits, tiles, planes,
// white as zero, plain PNM.
#include "io/image_file.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>
#include <png.h>
#include <tiffio.h>

#include <array>
#include <cstring>

namespace warpalign::test {
namespace {

using namespace program;

template <typename Sample>
std::vector<int> values(const LoadedImage& image) {
  const auto samples = image.samples<Sample>();
  return {samples.begin(), samples.end()};
}

/// Writes rows of packed bytes unchanged.
void write_png(const std::string& path, int width, int height, int bits, int colour_type,
               std::vector<std::uint8_t> bytes, bool interlaced = false) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, file);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), bits,
               colour_type, interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const std::array<png_color, 4> palette{{{1, 2, 3}, {10, 20, 30}, {100, 110, 120}, {255, 0, 7}}};
  const std::array<png_byte, 2> transparency{0, 128};
  if (colour_type == PNG_COLOR_TYPE_PALETTE) {
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
    png_set_tRNS(png, info, transparency.data(), static_cast<int>(transparency.size()), nullptr);
  }
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  const std::size_t row = bytes.size() / static_cast<std::size_t>(height);
  for (std::size_t at = 0; at < bytes.size(); at += row) rows.push_back(bytes.data() + at);
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  std::fclose(file);
}

TEST_CASE("PNG of few bits, with a palette, with alpha, interlaced") {
  const ScratchFolder folder;
  const std::string path = folder / "image.png";

  write_png(path, 4, 2, 1, PNG_COLOR_TYPE_GRAY, {0b1010'0000, 0b0111'0000});
  CHECK(values<std::uint8_t>(load_image(path)) ==
        std::vector<int>{255, 0, 255, 0, 0, 255, 255, 255});

  write_png(path, 3, 1, 2, PNG_COLOR_TYPE_GRAY, {0b0001'1000});
  CHECK(values<std::uint8_t>(load_image(path)) == std::vector<int>{0, 85, 170});

  write_png(path, 2, 1, 4, PNG_COLOR_TYPE_GRAY, {0x0f});
  CHECK(values<std::uint8_t>(load_image(path)) == std::vector<int>{0, 255});

  write_png(path, 2, 1, 2, PNG_COLOR_TYPE_PALETTE, {0b0111'0000});
  CHECK(load_image(path).channels == 3);
  CHECK(values<std::uint8_t>(load_image(path)) == std::vector<int>{10, 20, 30, 255, 0, 7});

  write_png(path, 2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, {50, 0, 60, 255});
  CHECK(values<std::uint8_t>(load_image(path)) == std::vector<int>{50, 60});

  write_png(path, 1, 2, 8, PNG_COLOR_TYPE_RGB_ALPHA, {1, 2, 3, 0, 4, 5, 6, 9}, true);
  CHECK(values<std::uint8_t>(load_image(path)) == std::vector<int>{1, 2, 3, 4, 5, 6});

  write_png(path, 1, 1, 16, PNG_COLOR_TYPE_GRAY_ALPHA, {0x12, 0x34, 0, 0});
  CHECK(load_image(path).type == PixelType::u16);
  CHECK(values<std::uint16_t>(load_image(path)) == std::vector<int>{0x1234});
}

struct TiffKind {
  int samples = 1;
  int photometric = PHOTOMETRIC_MINISBLACK;
  int planar = PLANARCONFIG_CONTIG;
  int compression = COMPRESSION_NONE;
  bool tiled = false;
  bool big = false;
  const char* mode() const { return big ? "w8b" : "wl"; }  // big: BigTIFF, big-endian
};

constexpr std::uint32_t tiff_width = 40;
constexpr std::uint32_t tiff_height = 21;

std::uint8_t tiff_sample(std::uint32_t x, std::uint32_t y, std::uint32_t sample) {
  return static_cast<std::uint8_t>(5 * x + 3 * y + 50 * sample);
}

void put_blocks(TIFF* tiff, const TiffKind& kind) {
  const bool apart = kind.planar == PLANARCONFIG_SEPARATE;
  const auto together = static_cast<std::uint32_t>(apart ? 1 : kind.samples);
  const std::uint32_t side = 16;
  for (std::uint16_t plane = 0; plane < (apart ? kind.samples : 1); ++plane) {
    for (std::uint32_t y = 0; y < tiff_height; y += kind.tiled ? side : 1) {
      for (std::uint32_t x = 0; x < tiff_width; x += kind.tiled ? side : tiff_width) {
        std::vector<std::uint8_t> block;
        for (std::uint32_t j = 0; j < (kind.tiled ? side : 1); ++j) {
          for (std::uint32_t i = 0; i < (kind.tiled ? side : tiff_width); ++i) {
            for (std::uint32_t s = 0; s < together; ++s) {
              block.push_back(tiff_sample(x + i, y + j, s + plane));
            }
          }
        }
        if (kind.tiled) {
          TIFFWriteTile(tiff, block.data(), x, y, 0, plane);
        } else {
          TIFFWriteScanline(tiff, block.data(), y, plane);
        }
      }
    }
  }
}

void write_tiff(const std::string& path, const TiffKind& kind) {
  TIFF* tiff = TIFFOpen(path.c_str(), kind.mode());
  REQUIRE(tiff != nullptr);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, tiff_width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, tiff_height);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind.planar);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  if (kind.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 8);
  }
  put_blocks(tiff, kind);
  TIFFClose(tiff);
}

void check_tiff(const TiffKind& kind) {
  CAPTURE(kind.samples);
  CAPTURE(kind.planar);
  CAPTURE(kind.tiled);
  const ScratchFolder folder;
  write_tiff(folder / "image.tif", kind);
  const LoadedImage image = load_image(folder / "image.tif");
  REQUIRE(image.shape() == Shape{tiff_width, tiff_height, 1});
  // An extra sample that is not described is alpha after colours, and a channel after gray.
  const int channels = kind.photometric == PHOTOMETRIC_RGB ? 3 : kind.samples;
  REQUIRE(image.channels == channels);
  std::vector<int> expected;
  for (std::uint32_t y = 0; y < tiff_height; ++y) {
    for (std::uint32_t x = 0; x < tiff_width; ++x) {
      for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(channels); ++s) {
        const int sample = tiff_sample(x, y, s);
        expected.push_back(kind.photometric == PHOTOMETRIC_MINISWHITE ? 255 - sample : sample);
      }
    }
  }
  CHECK(values<std::uint8_t>(image) == expected);
}

TEST_CASE("TIFF in strips and tiles, interleaved and in planes, of either colour order") {
  for (const bool tiled : {false, true}) {
    for (const int planar : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
      for (const int extra : {0, 1}) {
        check_tiff({1 + extra, PHOTOMETRIC_MINISBLACK, planar, COMPRESSION_LZW, tiled});
        check_tiff({1 + extra, PHOTOMETRIC_MINISWHITE, planar, COMPRESSION_NONE, tiled});
        check_tiff({3 + extra, PHOTOMETRIC_RGB, planar, COMPRESSION_ADOBE_DEFLATE, tiled, true});
      }
    }
  }
}

TEST_CASE("TIFF of colours that cannot be converted is refused") {
  const ScratchFolder folder;
  write_tiff(folder / "lab.tif", {3, PHOTOMETRIC_CIELAB});
  CHECK_THROWS_WITH_AS((void)load_image(folder / "lab.tif"), doctest::Contains("neither gray, RGB"),
                       FileError);
  write_tiff(folder / "inks.tif", {3, PHOTOMETRIC_SEPARATED});
  CHECK_THROWS_WITH_AS((void)load_image(folder / "inks.tif"),
                       doctest::Contains("CMYK, but has 3 samples a pixel"), FileError);
}

TEST_CASE("plain PNM, comments, and samples scaled to the whole range") {
  const ScratchFolder folder;
  const std::string path = folder / "image.pgm";
  write_text(path, "P2 # a comment\n#another\n3 1\n10\n0 5 10");
  CHECK(values<std::uint8_t>(load_image(path)) == std::vector<int>{0, 128, 255});
  write_text(path, "P3\n1 1\n1023\n0 1023 512\n");
  CHECK(load_image(path).type == PixelType::u16);
  CHECK(values<std::uint16_t>(load_image(path)) == std::vector<int>{0, 65535, 32800});
  write_text(path, std::string("P5\n2 1\n65535\n\x12\x34\xff\xff", 17));
  CHECK(values<std::uint16_t>(load_image(path)) == std::vector<int>{0x1234, 65535});
  for (const std::string bad : {"P2 2 1 10 0 11", "P2 2 1 0 0 0", "P2 2 1 65536 0 0", "P2 2",
                                "P5 x y z", "P2 99999999999999999999 1 255 0", "P5 1 1 255"}) {
    CAPTURE(bad);
    write_text(path, bad);
    CHECK_THROWS_AS((void)load_image(path), FileError);
  }
}

}  // namespace
}  // namespace warpalign::test
