// The tiles of a mosaic, read from their files when they are needed.
#include "io/mosaic/tile_files.hpp"

#include "io/array_file.hpp"
#include "io/checksum.hpp"
#include "io/frames/input_file.hpp"
#include "io/frames/tiff_at.hpp"
#include "io/frames/tiff_directories.hpp"
#include "io/image_name.hpp"
#include "io/luminance.hpp"
#include "io/nodata_mask.hpp"
#include "io/registrable_image.hpp"

#include <fmt/format.h>
#include <tiffio.h>

#include <array>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

namespace warpalign::program {
namespace {

bool is_constant(const LoadedImage& image) {
  const std::size_t pixel = image.row_bytes() / static_cast<std::size_t>(image.width);
  return image.pixels.size() <= pixel ||
         std::memcmp(image.pixels.data(), image.pixels.data() + pixel,
                     image.pixels.size() - pixel) == 0;
}

/// A checksum of every 32nd row.
std::uint64_t sampled_checksum(const LoadedImage& image) {
  constexpr std::int64_t step = 32;
  Checksum checksum;
  const std::span<const std::byte> bytes(image.pixels);
  for (std::int64_t y = 0; y < image.height; y += step) {
    checksum.add(bytes.subspan(static_cast<std::size_t>(y) * image.row_bytes(), image.row_bytes()));
  }
  return checksum.value();
}

LoadedImage one_channel(const LoadedImage& image, std::size_t channel) {
  LoadedImage result = make_image(image.width, image.height, 1, image.type);
  const std::size_t bytes = size_of(image.type);
  const std::size_t pixel = bytes * static_cast<std::size_t>(image.channels);
  const std::byte* from = image.pixels.data() + channel * bytes;
  for (std::size_t to = 0; to < result.pixels.size(); to += bytes, from += pixel) {
    std::memcpy(result.pixels.data() + to, from, bytes);
  }
  return result;
}

/// Fusion has three pixel types; the others become float32.
LoadedImage fusible(LoadedImage image, const std::string& name) {
  if (image.channels != 1 && image.channels != 3) {
    throw FileError(
        fmt::format("{}: is {}; the tiles of a mosaic are gray or RGB", name, describe(image)));
  }
  if (image.type == PixelType::u8 || image.type == PixelType::u16 || image.type == PixelType::f32) {
    return image;
  }
  image.pixels =
      to_float({{image.height, image.width * image.channels}, image.type, image.pixels}).bytes;
  image.type = PixelType::f32;
  return image;
}

/// What the header of a TIFF file's first page says.
struct StoredKind {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t bits = 1;
  std::uint16_t samples = 1;

  bool operator==(const StoredKind&) const = default;
};

/// Nothing for a file that is no TIFF, that names a page, or that cannot be read: load_image()
/// tells more.
std::optional<StoredKind> stored_kind(const std::filesystem::path& path) {
  if (image_name(path).page) return {};
  try {
    const InputFile file(path);
    std::array<std::byte, 8> head{};
    file.read_at(0, head);
    if (!is_tiff(head)) return {};
    const TiffDirectories directories = find_directories(file);
    TiffAt at{file, directories, directories.offsets.front()};
    const TiffHandle tiff = open_tiff_page(at);
    if (!tiff) return {};
    StoredKind kind;
    TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &kind.width);
    TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &kind.height);
    TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_BITSPERSAMPLE, &kind.bits);
    TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, &kind.samples);
    return kind;
  } catch (const FileError&) {
    return {};
  }
}

TilePixels pixels_of(std::shared_ptr<const LoadedImage> image) {
  const HostImage view = view_of(*image);
  return {view, std::move(image)};
}

}  // namespace

TileFiles::TileFiles(const std::filesystem::path& folder, std::vector<std::string> names,
                     const TileReading& how)
    : how_(how), folder_(folder), names_(std::move(names)) {
  if (how_.bad == BadTiles::skip) {
    read_first();
    return;
  }
  check_existence();
  take_kind(0);
  check_headers();
}

void TileFiles::check_existence() const {
  std::size_t missing = 0;
  std::string first_missing;
  for (const std::string& name : names_) {
    std::error_code failed;
    if (std::filesystem::exists(image_name(folder_ / name).file, failed)) continue;
    if (missing++ == 0) first_missing = (folder_ / name).string();
  }
  if (missing == 0) return;
  throw FileError(
      fmt::format("{}: does not exist{}; give the files relative to the folder, or join the others "
                  "with --skip-bad-tiles",
                  first_missing,
                  missing == 1   ? ""
                  : missing == 2 ? ", nor does 1 other tile"
                                 : fmt::format(", nor do {} other tiles", missing - 1)));
}

void TileFiles::take_kind(std::size_t tile) {
  LoadedImage first = load_registrable(path(tile));
  stored_type_ = first.type;
  if (how_.nodata) check_nodata(*how_.nodata, stored_type_);
  first_ = fusible(std::move(first), path(tile));
  first_.pixels = {};
  model_ = tile;
}

void TileFiles::read_first() {
  for (std::size_t i = 0; i < size(); ++i) {
    try {
      return take_kind(i);
    } catch (const FileError&) {
      if (i + 1 == size()) throw;
    }
  }
}

void TileFiles::check_headers() const {
  const std::optional<StoredKind> first = stored_kind(path(model_));
  for (std::size_t i = 1; first && i < size(); ++i) {
    const std::optional<StoredKind> kind = stored_kind(path(i));
    // Loading a tile of another kind says how it differs.
    if (kind && !(*kind == *first)) static_cast<void>(load(i));
  }
}

LoadedImage TileFiles::load(std::size_t tile) const {
  LoadedImage image = fusible(load_image(path(tile)), path(tile));
  if (image.shape() != first_.shape() || image.type != first_.type ||
      image.channels != first_.channels) {
    throw FileError(
        fmt::format("{}: is {}, but {} is {}; the tiles of a mosaic must be of one kind",
                    path(tile), describe(image), path(model_), describe(first_)));
  }
  return image;
}

void TileFiles::refuse_same_picture(std::size_t tile, const LoadedImage& image) {
  const std::uint64_t checksum = sampled_checksum(image);
  std::size_t other = tile;
  {
    const std::lock_guard lock(mutex_);
    other = tiles_by_checksum_.emplace(checksum, tile).first->second;
  }
  if (other == tile || is_constant(image) || load(other).pixels != image.pixels) return;
  throw FileError(
      fmt::format("{}: is the same picture as {}; give each tile once", path(tile), path(other)));
}

std::optional<LoadedImage> TileFiles::usable(std::size_t tile) {
  if (how_.bad == BadTiles::refuse) return load(tile);
  try {
    return load(tile);
  } catch (const FileError& error) {
    const std::lock_guard lock(mutex_);
    skipped_.emplace(tile, error.what());
    return {};
  }
}

std::vector<SkippedTile> TileFiles::skipped() const {
  const std::lock_guard lock(mutex_);
  std::vector<SkippedTile> tiles;
  for (const auto& [tile, reason] : skipped_) tiles.push_back({names_[tile], reason});
  return tiles;
}

TilePixels TileFiles::gray(std::size_t tile) {
  std::optional<LoadedImage> loaded = usable(tile);
  if (!loaded) return {};
  LoadedImage image = std::move(*loaded);
  refuse_same_picture(tile, image);
  if (how_.nodata) {
    return pixels_of(std::make_shared<const LoadedImage>(with_nan(image, *how_.nodata)));
  }
  if (flat_fields_) flat_fields_->apply(image);
  if (image.channels == 1) return pixels_of(std::make_shared<const LoadedImage>(std::move(image)));
  return pixels_of(std::make_shared<const LoadedImage>(Luminance(image).image()));
}

TilePixels TileFiles::channel(std::size_t tile, int channel) {
  const auto index = static_cast<std::size_t>(channel);
  if (kept_ != tile || kept_channels_.empty()) {
    kept_channels_.clear();
    std::optional<LoadedImage> loaded = usable(tile);
    if (!loaded) return {};
    LoadedImage image = std::move(*loaded);
    if (flat_fields_) flat_fields_->apply(image);
    if (image.channels == 1) {
      kept_channels_.push_back(std::make_shared<const LoadedImage>(std::move(image)));
    } else {
      for (int c = 0; c < image.channels; ++c) {
        kept_channels_.push_back(
            std::make_shared<const LoadedImage>(one_channel(image, static_cast<std::size_t>(c))));
      }
    }
    kept_ = tile;
  }
  return pixels_of(kept_channels_[index]);
}

}  // namespace warpalign::program
