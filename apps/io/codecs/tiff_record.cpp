// Encodes uncompressed TIFF pages without libtiff, which walks the chain of directories again for
// each page that it adds, and cannot continue a truncated file.
#include "io/codecs/tiff_record.hpp"

#include <tiff.h>

#include <algorithm>
#include <array>
#include <utility>

namespace warpalign::program {
namespace {

/// Appends numbers in little-endian order.
class RecordWriter {
 public:
  void put(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      bytes_.push_back(static_cast<std::byte>(value >> 8 * i & 0xffU));
    }
  }
  void pad_to(std::size_t size) { bytes_.resize(size); }
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

struct Entry {
  std::uint16_t tag;
  std::uint16_t type;
  std::uint64_t count;
  std::uint64_t value;
};

constexpr std::size_t pixel_entries = 11;
constexpr std::uint16_t imagej_counts_tag = 50838;
constexpr std::uint16_t imagej_bytes_tag = 50839;

std::size_t directory_bytes(bool big, std::size_t tags) {
  const std::size_t entries = pixel_entries + tags;
  return big ? 8 + entries * 20 + 8 : 2 + entries * 12 + 4;
}

/// Values that do not fit into an entry of TIFF follow the directory: six numbers of 16 bits, which
/// BigTIFF stores in the entry, and two fractions.
constexpr std::size_t outside_bytes = 2 * 6;
constexpr std::size_t fraction_bytes = 8;

std::size_t pixel_bytes(const LoadedImage& image) {
  return image.row_bytes() * static_cast<std::size_t>(image.height);
}

/// The size of a directory with the values after it, rounded up so that the pixels are aligned for
/// any type. Only additional tags need room for fractions.
std::size_t padded_directory_bytes(bool big, std::size_t room) {
  const std::size_t fractions = room > 0 ? 2 * fraction_bytes : 0;
  return (directory_bytes(big, room) + outside_bytes + fractions + 15) / 16 * 16;
}

std::uint16_t sample_format(PixelType type) {
  const char sort = *name_of(type);
  return sort == 'u' ? SAMPLEFORMAT_UINT : sort == 'i' ? SAMPLEFORMAT_INT : SAMPLEFORMAT_IEEEFP;
}

}  // namespace

std::vector<std::byte> tiff_header(bool big, std::uint64_t first) {
  RecordWriter header;
  header.put('I' | 'I' << 8, 2);
  header.put(big ? 43 : 42, 2);
  if (big) header.put(8, 4);  // bytes of an offset, and 0
  header.put(first, big ? 8 : 4);
  header.pad_to(16);
  return std::move(header).take();
}

std::size_t tiff_next_position(bool big, std::size_t tags) {
  return directory_bytes(big, tags) - (big ? 8 : 4);
}

std::uint64_t tiff_record_bytes(const LoadedImage& image, bool big, std::size_t room) {
  return padded_directory_bytes(big, room) + (pixel_bytes(image) + 15) / 16 * 16;
}

namespace {

/// The entries for TiffTags. `fractions`: the offset of the fractions that follow the directory.
std::vector<Entry> additional_entries(const TiffTags& tags, bool big, std::uint64_t fractions) {
  std::vector<Entry> entries;
  if (tags.description.bytes > 0) {
    entries.push_back(
        {TIFFTAG_IMAGEDESCRIPTION, TIFF_ASCII, tags.description.bytes, tags.description.offset});
  }
  if (tags.resolution) {
    const auto value = [&](const std::array<std::uint32_t, 2>& fraction, std::uint64_t offset) {
      return big ? fraction[0] | std::uint64_t{fraction[1]} << 32 : offset;
    };
    const TiffResolution& resolution = *tags.resolution;
    entries.push_back({TIFFTAG_XRESOLUTION, TIFF_RATIONAL, 1, value(resolution.x, fractions)});
    entries.push_back(
        {TIFFTAG_YRESOLUTION, TIFF_RATIONAL, 1, value(resolution.y, fractions + fraction_bytes)});
    entries.push_back({TIFFTAG_RESOLUTIONUNIT, TIFF_SHORT, 1, resolution.unit});
  }
  if (tags.imagej_bytes.bytes > 0) {
    const std::uint64_t counts = tags.imagej_counts.bytes / 4;
    const std::uint64_t both = tags.first_counts[0] | std::uint64_t{tags.first_counts[1]} << 32;
    entries.push_back({imagej_counts_tag, TIFF_LONG, counts,
                       big && counts == 2 ? both : tags.imagej_counts.offset});
    entries.push_back(
        {imagej_bytes_tag, TIFF_BYTE, tags.imagej_bytes.bytes, tags.imagej_bytes.offset});
  }
  return entries;
}

}  // namespace

std::vector<std::byte> tiff_directory(const LoadedImage& image, bool big, std::uint64_t offset,
                                      std::uint64_t next, const TiffTags& tags, std::size_t room) {
  const auto channels = static_cast<std::uint64_t>(image.channels);
  const std::uint64_t bits = 8 * size_of(image.type);
  const std::uint64_t format = sample_format(image.type);
  const std::uint64_t outside = offset + directory_bytes(big, tags.count());
  // A single number is stored in its entry; three are stored there only if the entry has 8 bytes.
  const auto each = [&](std::uint64_t value, std::uint64_t place) {
    const std::uint64_t three = value | value << 16 | value << 32;
    return channels == 1 ? value : big ? three : place;
  };
  const std::uint16_t wide = big ? TIFF_LONG8 : TIFF_LONG;
  std::vector<Entry> table{
      Entry{TIFFTAG_IMAGEWIDTH, TIFF_LONG, 1, static_cast<std::uint64_t>(image.width)},
      Entry{TIFFTAG_IMAGELENGTH, TIFF_LONG, 1, static_cast<std::uint64_t>(image.height)},
      Entry{TIFFTAG_BITSPERSAMPLE, TIFF_SHORT, channels, each(bits, outside)},
      Entry{TIFFTAG_COMPRESSION, TIFF_SHORT, 1, COMPRESSION_NONE},
      Entry{TIFFTAG_PHOTOMETRIC, TIFF_SHORT, 1,
            image.channels == 3 ? std::uint64_t{PHOTOMETRIC_RGB} : PHOTOMETRIC_MINISBLACK},
      Entry{TIFFTAG_STRIPOFFSETS, wide, 1, offset + padded_directory_bytes(big, room)},
      Entry{TIFFTAG_SAMPLESPERPIXEL, TIFF_SHORT, 1, channels},
      Entry{TIFFTAG_ROWSPERSTRIP, TIFF_LONG, 1, static_cast<std::uint64_t>(image.height)},
      Entry{TIFFTAG_STRIPBYTECOUNTS, wide, 1, pixel_bytes(image)},
      Entry{TIFFTAG_PLANARCONFIG, TIFF_SHORT, 1, PLANARCONFIG_CONTIG},
      Entry{TIFFTAG_SAMPLEFORMAT, TIFF_SHORT, channels, each(format, outside + 6)}};
  const std::vector<Entry> more = additional_entries(tags, big, outside + outside_bytes);
  table.insert(table.end(), more.begin(), more.end());
  std::ranges::sort(table, {}, &Entry::tag);
  RecordWriter directory;
  directory.put(table.size(), big ? 8 : 2);
  for (const Entry& entry : table) {
    directory.put(entry.tag, 2);
    directory.put(entry.type, 2);
    directory.put(entry.count, big ? 8 : 4);
    directory.put(entry.value, big ? 8 : 4);
  }
  directory.put(next, big ? 8 : 4);
  for (const std::uint64_t value : {bits, bits, bits, format, format, format}) {
    directory.put(value, 2);
  }
  if (tags.resolution) {
    const TiffResolution& resolution = *tags.resolution;
    for (const std::uint32_t number :
         {resolution.x[0], resolution.x[1], resolution.y[0], resolution.y[1]}) {
      directory.put(number, 4);
    }
  }
  directory.pad_to(padded_directory_bytes(big, room));
  return std::move(directory).take();
}

}  // namespace warpalign::program
