// The flat fields by which the tiles of a mosaic are divided.
#include "io/mosaic/illumination/tile_flat_fields.hpp"

#include "io/array_file.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace warpalign::program {
namespace {

/// The channels of an image, one of them for all channels of the tiles if it is gray.
using Channels = std::vector<Array>;

Channels load_channels(const std::string& path, const TileKind& tile) {
  const LoadedImage image = load_image(path);
  if (image.shape() != tile.shape) {
    throw FileError(fmt::format("{}: is {} x {}, but the tiles are {} x {}", path, image.width,
                                image.height, tile.shape.width, tile.shape.height));
  }
  if (image.channels != 1 && image.channels != tile.channels) {
    throw FileError(fmt::format("{}: has {} channels, but the tiles have {}; use a gray image",
                                path, image.channels, tile.channels));
  }
  return split_channels(image);
}

HostImage view_of_channel(const Array& channel, const TileKind& tile) {
  return {channel.bytes.data(), channel.type, tile.shape.width, tile.shape.height, 0};
}

const Array& channel_of(const Channels& channels, int channel) {
  return channels[channels.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
}

std::optional<HostImage> dark_of(const std::optional<Channels>& dark, int channel,
                                 const TileKind& tile) {
  if (!dark) return {};
  return view_of_channel(channel_of(*dark, channel), tile);
}

std::optional<Channels> load_dark(const std::optional<std::string>& path, const TileKind& tile) {
  if (!path) return {};
  return load_channels(*path, tile);
}

}  // namespace

TileFlatFields::TileFlatFields(std::vector<FlatField> fields) : fields_(std::move(fields)) {
  for (const FlatField& field : fields_) {
    const auto [least, largest] = std::minmax_element(field.values().begin(), field.values().end());
    least_ = std::min(least_, *least);
    largest_ = std::max(largest_, *largest);
  }
}

TileFlatFields TileFlatFields::from_files(const std::string& flat,
                                          const std::optional<std::string>& dark,
                                          const TileKind& tile) {
  const Channels light = load_channels(flat, tile);
  const std::optional<Channels> below = load_dark(dark, tile);
  std::vector<FlatField> fields;
  for (int c = 0; c < tile.channels; ++c) {
    const HostImage view = view_of_channel(channel_of(light, c), tile);
    naming(flat, [&] { (void)FlatField(view); });
    naming(dark.value_or(flat), [&] { fields.emplace_back(view, dark_of(below, c, tile)); });
  }
  return TileFlatFields(std::move(fields));
}

TileFlatFields TileFlatFields::estimated(
    std::size_t tiles, const std::function<std::optional<LoadedImage>(std::size_t)>& read,
    const std::optional<std::string>& dark, const TileKind& tile) {
  const std::optional<Channels> below = load_dark(dark, tile);
  std::vector<FlatFieldEstimator> estimators;
  for (int c = 0; c < tile.channels; ++c) {
    naming(dark.value_or(""),
           [&] { estimators.emplace_back(tile.shape, dark_of(below, c, tile)); });
  }
  for (std::size_t i = 0; i < tiles; ++i) {
    const std::optional<LoadedImage> image = read(i);
    if (!image) continue;
    const Channels channels = split_channels(*image);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      estimators[c].add(view_of_channel(channels[c], tile));
    }
  }
  std::vector<FlatField> fields;
  for (int c = 0; c < tile.channels; ++c) {
    naming("--flat-field auto", [&] {
      const std::vector<float> light = estimators[static_cast<std::size_t>(c)].estimate();
      fields.emplace_back(
          HostImage{light.data(), PixelType::f32, tile.shape.width, tile.shape.height, 0},
          dark_of(below, c, tile));
    });
  }
  return TileFlatFields(std::move(fields));
}

void TileFlatFields::apply(LoadedImage& tile) const {
  if (tile.channels == 1) return fields_.front().apply(view_of(tile), tile.pixels.data());
  std::vector<Array> channels = split_channels(tile);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const HostImage view{channels[c].bytes.data(), tile.type, tile.width, tile.height, 0};
    fields_[c].apply(view, channels[c].bytes.data());
  }
  tile.pixels = join_channels(channels).pixels;
}

}  // namespace warpalign::program
