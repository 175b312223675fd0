// fuse_tiles(): resamples each tile to the picture's grid, and blends tiles where they overlap.
#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "mosaic/blended_strip.hpp"

#include <warpalign/mosaic.hpp>
#include <warpalign/stages/resample.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace warpalign {

using namespace detail;

namespace {

constexpr const char* stage = "fuse_tiles";

/// Resamples tiles of one shape and type by fractions of a pixel.
class TileResampler {
 public:
  TileResampler(const Device& device, const Shape& shape, PixelType type)
      : stream_(device.make_stream()),
        input_(device.make_image(type, shape)),
        output_(device.make_image(type, shape)),
        resample_(
            device,
            {.images = {.shape = shape}, .output = shape, .input = type, .output_type = type}) {}

  /// Reads the tile `fraction` pixels before each pixel of the output.
  void resample(const HostImage& tile, const Point& fraction, std::span<std::byte> output) {
    stream_.upload(tile, input_);
    resample_.execute(stream_, input_, Affine::translation(-fraction.x, -fraction.y), output_);
    stream_.download(output_, output.data(), output.size());
  }

 private:
  Stream stream_;
  Image input_;
  Image output_;
  ResamplePlan resample_;
};

/// The bytes of an image in dense rows. Numbers that are not finite become 0: a single one would
/// spread through the spline's prefilter.
std::vector<std::byte> dense(const HostImage& image) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(image.width * image.height) *
                               size_of(image.type));
  copy_rows(image, bytes.data());
  if (image.type == PixelType::f32) {
    auto* numbers = reinterpret_cast<float*>(bytes.data());
    std::replace_if(
        numbers, numbers + bytes.size() / sizeof(float),
        [](float number) { return !std::isfinite(number); }, 0.0F);
  }
  return bytes;
}

/// One call of fuse_tiles().
class Fusion {
 public:
  Fusion(const Device& device, std::span<const MosaicTile> tiles, std::span<const Point> positions,
         const ChannelSource& source, const FusionSpec& spec)
      : device_(device), tiles_(tiles), positions_(positions), source_(source), spec_(spec) {
    by_top_.resize(tiles.size());
    std::iota(by_top_.begin(), by_top_.end(), std::size_t{0});
    std::stable_sort(by_top_.begin(), by_top_.end(),
                     [&](std::size_t a, std::size_t b) { return positions[a].y < positions[b].y; });
  }

  void run(const RowSink& sink) {
    BlendedStrip strip(spec_.picture.width, spec_.rows, spec_.type);
    std::size_t next = 0;
    for (std::int64_t top = 0; top < spec_.picture.height; top += spec_.rows) {
      const std::int64_t rows = std::min(spec_.rows, spec_.picture.height - top);
      std::erase_if(loaded_, [&](const PlacedTile& tile) { return tile.y + tile.height <= top; });
      while (next < by_top_.size() &&
             positions_[by_top_[next]].y < static_cast<double>(top + rows)) {
        load(by_top_[next++], top);
      }
      const auto channels = static_cast<std::size_t>(spec_.channels);
      std::vector<std::vector<std::byte>> planes(channels);
      std::vector<HostImage> images;
      for (std::size_t c = 0; c < channels; ++c) {
        planes[c] = strip.blend(loaded_, c, top, rows);
        images.push_back({planes[c].data(), spec_.type, spec_.picture.width, rows, 0});
      }
      sink(top, images);
    }
  }

 private:
  void load(std::size_t i, std::int64_t top) {
    const Shape& shape = tiles_[i].shape;
    const Point& position = positions_[i];
    PlacedTile tile;
    tile.x = pixel_before(position.x);
    tile.y = pixel_before(position.y);
    const Point fraction{std::max(0.0, position.x - static_cast<double>(tile.x)),
                         std::max(0.0, position.y - static_cast<double>(tile.y))};
    tile.width = shape.width;
    tile.height = shape.height;
    tile.fraction = fraction;
    if (tile.y + tile.height <= top) return;
    for (int c = 0; c < spec_.channels; ++c) {
      const TilePixels pixels = source_(i, c);
      check_pixels(i, pixels.image);
      tile.channels.push_back(dense(pixels.image));
      if (fraction.x == 0 && fraction.y == 0) continue;
      std::vector<std::byte>& bytes = tile.channels.back();
      const HostImage input{bytes.data(), spec_.type, shape.width, shape.height, 0};
      resampler_of(shape).resample(input, fraction, bytes);
    }
    loaded_.push_back(std::move(tile));
  }

  void check_pixels(std::size_t i, const HostImage& image) const {
    if (image.shape() == tiles_[i].shape && image.type == spec_.type) return;
    refuse(stage, "tile " + std::to_string(i) + " is " + to_string(image.shape()) + " of type " +
                      name_of(image.type) + ", but " + to_string(tiles_[i].shape) + " of type " +
                      name_of(spec_.type) + " is expected");
  }

  TileResampler& resampler_of(const Shape& shape) {
    const auto key = std::make_pair(shape.width, shape.height);
    const auto found = resamplers_.find(key);
    if (found != resamplers_.end()) return found->second;
    return resamplers_.try_emplace(key, device_, shape, spec_.type).first->second;
  }

  const Device& device_;
  std::span<const MosaicTile> tiles_;
  std::span<const Point> positions_;
  const ChannelSource& source_;
  const FusionSpec& spec_;
  std::vector<std::size_t> by_top_;
  std::vector<PlacedTile> loaded_;
  std::map<std::pair<std::int64_t, std::int64_t>, TileResampler> resamplers_;
};

void check(std::span<const MosaicTile> tiles, std::span<const Point> positions,
           const ChannelSource& source, const FusionSpec& spec, const RowSink& sink) {
  if (!source) refuse(stage, "source is empty; a source of pixels is needed");
  if (!sink) refuse(stage, "sink is empty; a sink for rows is needed");
  check_array(stage, "the picture", spec.picture);
  if (spec.picture.depth != 1) refuse(stage, "the picture's depth must be 1");
  check_grey(stage, "the picture", spec.type);
  if (spec.channels < 1) refuse(stage, "channels must be at least 1");
  if (spec.rows < 1) refuse(stage, "rows must be at least 1");
  if (positions.size() != tiles.size()) {
    refuse(stage, "there are " + std::to_string(positions.size()) + " positions for " +
                      std::to_string(tiles.size()) + " tiles; give one for each");
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    check_shape(stage, ("tile " + std::to_string(i)).c_str(), tiles[i].shape);
    constexpr double far = 1 << 30;
    if (std::abs(positions[i].x) < far && std::abs(positions[i].y) < far) continue;
    refuse(stage, "the position of tile " + std::to_string(i) + " is not finite or beyond 2^30");
  }
}

}  // namespace

void fuse_tiles(const Device& device, std::span<const MosaicTile> tiles,
                std::span<const Point> positions, const ChannelSource& source,
                const FusionSpec& spec, const RowSink& sink) {
  check(tiles, positions, source, spec, sink);
  Fusion(device, tiles, positions, source, spec).run(sink);
}

}  // namespace warpalign
