// Writes TIFF: any real type, gray, RGB or other channels, in deflated strips.
#include "io/codecs/codecs.hpp"
#include "io/codecs/tiff_in_memory.hpp"

#include <algorithm>
#include <utility>

namespace warpalign::program {
namespace {

void describe_page(TIFF* tiff, const LoadedImage& image) {
  const char sort = *name_of(image.type);
  const int format = sort == 'f'   ? SAMPLEFORMAT_IEEEFP
                     : sort == 'i' ? SAMPLEFORMAT_INT
                                   : SAMPLEFORMAT_UINT;
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(image.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(image.height));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, image.channels);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_of(image.type)));
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               image.channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  if (image.channels != 1 && image.channels != 3) {
    const std::vector<std::uint16_t> extra(static_cast<std::size_t>(image.channels - 1),
                                           EXTRASAMPLE_UNSPECIFIED);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(extra.size()), extra.data());
  }
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  TIFFSetField(tiff, TIFFTAG_PREDICTOR,
               sort == 'f' ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
  constexpr std::size_t strip_bytes = std::size_t{1} << 18;
  const std::size_t rows = std::max<std::size_t>(1, strip_bytes / image.row_bytes());
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows));
}

bool write_rows(TIFF* tiff, const LoadedImage& image) {
  std::vector<std::byte> row(image.row_bytes());  // the predictor works in place
  for (std::int64_t y = 0; y < image.height; ++y) {
    const auto start = image.pixels.begin() + static_cast<std::ptrdiff_t>(image.row_bytes()) * y;
    std::copy_n(start, row.size(), row.begin());
    if (TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0) != 1) return false;
  }
  return TIFFFlush(tiff) == 1;
}

}  // namespace

std::vector<std::byte> write_tiff(const LoadedImage& image) {
  TiffMemory memory;
  {
    const TiffHandle tiff = open_tiff_for_writing(memory);
    if (!tiff) throw FileError("libtiff failed to start: " + memory.message);
    describe_page(tiff.get(), image);
    if (!write_rows(tiff.get(), image)) throw FileError("libtiff failed: " + memory.message);
  }
  return std::move(memory.written);
}

}  // namespace warpalign::program
