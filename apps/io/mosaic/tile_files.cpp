// The tiles of a mosaic, read from their files when they are needed.
#include "io/mosaic/tile_files.hpp"

#include "io/array_file.hpp"
#include "io/checksum.hpp"
#include "io/image_name.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"

#include <fmt/format.h>

#include <cstring>
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

TilePixels pixels_of(std::shared_ptr<const LoadedImage> image) {
  const HostImage view = view_of(*image);
  return {view, std::move(image)};
}

}  // namespace

TileFiles::TileFiles(const std::filesystem::path& folder, std::vector<std::string> names)
    : folder_(folder), names_(std::move(names)) {
  std::size_t missing = 0;
  std::string first_missing;
  for (const std::string& name : names_) {
    std::error_code failed;
    if (std::filesystem::exists(image_name(folder_ / name).file, failed)) continue;
    if (missing++ == 0) first_missing = (folder_ / name).string();
  }
  if (missing > 0) {
    throw FileError(
        fmt::format("{}: does not exist{}; give the files relative to the folder", first_missing,
                    missing > 1 ? fmt::format(", nor do {} other tiles", missing - 1) : ""));
  }
  first_ = fusible(load_registrable(path(0)), path(0));
  first_.pixels = {};
}

LoadedImage TileFiles::load(std::size_t tile) const {
  LoadedImage image = fusible(load_image(path(tile)), path(tile));
  if (image.shape() != first_.shape() || image.type != first_.type ||
      image.channels != first_.channels) {
    throw FileError(
        fmt::format("{}: is {}, but {} is {}; the tiles of a mosaic must be of one kind",
                    path(tile), describe(image), path(0), describe(first_)));
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

TilePixels TileFiles::gray(std::size_t tile) {
  LoadedImage image = load(tile);
  refuse_same_picture(tile, image);
  if (image.channels == 1) return pixels_of(std::make_shared<const LoadedImage>(std::move(image)));
  return pixels_of(std::make_shared<const LoadedImage>(Luminance(image).image()));
}

TilePixels TileFiles::channel(std::size_t tile, int channel) {
  const auto index = static_cast<std::size_t>(channel);
  const std::lock_guard lock(mutex_);
  if (kept_ != tile || kept_channels_.empty()) {
    kept_channels_.clear();
    LoadedImage image = load(tile);
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
