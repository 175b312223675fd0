// Writes a large picture as tiled OME-TIFF with reduced levels.
#include "io/mosaic/ome_tiff.hpp"

#include "io/frames/ome_axes.hpp"
#include "io/image_file.hpp"
#include "io/mosaic/file_for_tiff.hpp"
#include "io/mosaic/half_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::program {
namespace {

constexpr std::int64_t tile_side = 256;
/// The smallest level has sides of at most so many pixels.
constexpr std::int64_t small_side = 1024;
/// A strip can be halved so often.
constexpr std::size_t max_levels = 7;
/// Classic TIFF has 32-bit offsets. Deflate may make noise a little larger.
constexpr std::uint64_t max_classic_bytes = 3'900'000'000;

struct Size {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

std::vector<Size> sizes_of_levels(Size size) {
  std::vector<Size> sizes;
  while (std::max(size.width, size.height) > small_side && sizes.size() < max_levels) {
    size = {(size.width + 1) / 2, (size.height + 1) / 2};
    sizes.push_back(size);
  }
  return sizes;
}

std::string ome_xml(const OmePicture& picture) {
  const std::string size =
      picture.pixel_size
          ? fmt::format(" PhysicalSizeX=\"{0}\" PhysicalSizeY=\"{0}\"", *picture.pixel_size)
          : "";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
      "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\">"
      "<Image ID=\"Image:0\"><Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"{}\" "
      "SizeX=\"{}\" SizeY=\"{}\" SizeC=\"{}\" SizeZ=\"1\" SizeT=\"1\"{}>"
      "<Channel ID=\"Channel:0:0\" SamplesPerPixel=\"{}\"/><TiffData/></Pixels></Image></OME>",
      ome_type(picture.type), picture.width, picture.height, picture.channels, size,
      picture.channels);
}

/// Joins one image for each channel to interleaved rows.
PictureRows interleaved(std::span<const HostImage> channels) {
  const HostImage& first = channels.front();
  PictureRows rows{first.width, first.height, static_cast<int>(channels.size()), first.type, {}};
  const std::size_t bytes = size_of(first.type);
  const auto pixels = static_cast<std::size_t>(first.width * first.height);
  rows.pixels.resize(pixels * channels.size() * bytes);
  if (channels.size() == 1) {
    std::memcpy(rows.pixels.data(), first.data, rows.pixels.size());
    return rows;
  }
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const auto* from = static_cast<const std::byte*>(channels[c].data);
    std::byte* to = rows.pixels.data() + c * bytes;
    for (std::size_t i = 0; i < pixels; ++i) {
      std::memcpy(to + i * channels.size() * bytes, from + i * bytes, bytes);
    }
  }
  return rows;
}

}  // namespace

struct OmeTiffWriter::State {
  State(const std::filesystem::path& name, const OmePicture& shape)
      : path(name),
        picture(shape),
        sizes(sizes_of_levels({shape.width, shape.height})),
        target(name),
        tiff(open_tiff_file(target, is_big())) {
    if (!tiff) throw_failure(target, path);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      levels.push_back(std::make_unique<AtomicFile>(path));
    }
    describe({picture.width, picture.height});
    set(TIFFTAG_IMAGEDESCRIPTION, ome_xml(picture).c_str());
    set(TIFFTAG_SOFTWARE, "warpalign");
    if (!sizes.empty()) {
      const std::vector<toff_t> offsets(sizes.size(), 0);
      set(TIFFTAG_SUBIFD, static_cast<int>(offsets.size()), offsets.data());
    }
  }

  [[nodiscard]] std::size_t pixel_bytes() const {
    return size_of(picture.type) * static_cast<std::size_t>(picture.channels);
  }
  [[nodiscard]] bool is_big() const {
    const auto bytes = static_cast<std::uint64_t>(picture.width) *
                       static_cast<std::uint64_t>(picture.height) * pixel_bytes();
    return bytes / 3 * 4 > max_classic_bytes;
  }

  template <typename... Values>
  void set(std::uint32_t tag, Values... values) {
    if (TIFFSetField(tiff.get(), tag, values...) != 1) throw_failure(target, path);
  }

  void describe(const Size& size) {
    set(TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(size.width));
    set(TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(size.height));
    set(TIFFTAG_SAMPLESPERPIXEL, picture.channels);
    set(TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_of(picture.type)));
    set(TIFFTAG_SAMPLEFORMAT,
        picture.type == PixelType::f32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    set(TIFFTAG_PHOTOMETRIC, picture.channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    set(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    set(TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(tile_side));
    set(TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(tile_side));
    set(TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    set(TIFFTAG_PREDICTOR,
        picture.type == PixelType::f32 ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
    // Higher levels of compression take several times as long for a few per cent.
    set(TIFFTAG_ZIPQUALITY, 1);
  }

  /// Writes the tiles of up to 256 rows that begin at row `top`.
  void write_tiles(const PictureRows& rows, std::int64_t top) {
    const std::size_t pixel = pixel_bytes();
    std::vector<std::byte> tile(static_cast<std::size_t>(tile_side * tile_side) * pixel);
    for (std::int64_t left = 0; left < rows.width; left += tile_side) {
      const auto columns = static_cast<std::size_t>(std::min(tile_side, rows.width - left));
      std::fill(tile.begin(), tile.end(), std::byte{0});
      for (std::int64_t y = 0; y < rows.height; ++y) {
        std::memcpy(tile.data() + static_cast<std::size_t>(y * tile_side) * pixel,
                    rows.pixels.data() + static_cast<std::size_t>(y * rows.width + left) * pixel,
                    columns * pixel);
      }
      if (TIFFWriteTile(tiff.get(), tile.data(), static_cast<std::uint32_t>(left),
                        static_cast<std::uint32_t>(top), 0, 0) < 0) {
        throw_failure(target, path);
      }
    }
  }

  void end_directory() {
    if (TIFFWriteDirectory(tiff.get()) != 1 || target.failure) throw_failure(target, path);
  }

  void write_level(const AtomicFile& level, const Size& size) {
    describe(size);
    set(TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    const std::size_t row_bytes = static_cast<std::size_t>(size.width) * pixel_bytes();
    for (std::int64_t top = 0; top < size.height; top += tile_side) {
      PictureRows rows{
          size.width, std::min(tile_side, size.height - top), picture.channels, picture.type, {}};
      rows.pixels.resize(row_bytes * static_cast<std::size_t>(rows.height));
      if (!level.read_at(static_cast<std::uint64_t>(top) * row_bytes, rows.pixels)) {
        throw FileError(fmt::format("{}: the strips do not cover the picture", path.string()));
      }
      write_tiles(rows, top);
    }
    end_directory();
  }

  std::filesystem::path path;
  OmePicture picture;
  std::vector<Size> sizes;  ///< of the reduced levels
  FileForTiff target;
  std::unique_ptr<TIFF, void (*)(TIFF*)> tiff;
  std::vector<std::unique_ptr<AtomicFile>> levels;  ///< their rows, which are never committed
  std::int64_t next_row = 0;
};

OmeTiffWriter::OmeTiffWriter(const std::filesystem::path& path, const OmePicture& picture)
    : state_(std::make_unique<State>(path, picture)) {}

OmeTiffWriter::~OmeTiffWriter() = default;

void OmeTiffWriter::write(std::span<const HostImage> channels) {
  PictureRows rows = interleaved(channels);
  state_->write_tiles(rows, state_->next_row);
  state_->next_row += rows.height;
  for (const auto& level : state_->levels) {
    rows = half_size(rows);
    level->write(rows.pixels);
  }
}

void OmeTiffWriter::commit() {
  state_->end_directory();
  for (std::size_t i = 0; i < state_->levels.size(); ++i) {
    state_->write_level(*state_->levels[i], state_->sizes[i]);
    state_->levels[i].reset();
  }
  state_->tiff.reset();
  if (state_->target.failure) throw_failure(state_->target, state_->path);
  state_->target.file.commit();
}

}  // namespace warpalign::program
