// fuse_tiles(): resamples each tile to the picture's grid, and blends tiles where they overlap.
#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "mosaic/blended_strip.hpp"
#include "mosaic/tile_loader.hpp"

#include <warpalign/mosaic.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

using namespace detail;

namespace {

constexpr const char* stage = "fuse_tiles";

/// The bytes of an image in dense rows.
std::vector<std::byte> dense(const HostImage& image) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(image.width * image.height) *
                               size_of(image.type));
  copy_rows(image, bytes.data());
  return bytes;
}

/// One call of fuse_tiles().
class Fusion {
 public:
  Fusion(const Device& device, std::span<const MosaicTile> tiles, std::span<const Point> positions,
         const ChannelSource& source, const FusionSpec& spec)
      : loader_(device, 2, spec.type, spec.distortion, spec.nodata),
        tiles_(tiles),
        positions_(positions),
        source_(source),
        spec_(spec) {
    by_top_.resize(tiles.size());
    std::iota(by_top_.begin(), by_top_.end(), std::size_t{0});
    std::stable_sort(by_top_.begin(), by_top_.end(),
                     [&](std::size_t a, std::size_t b) { return positions[a].y < positions[b].y; });
  }

  void run(const RowSink& sink) {
    BlendedStrip strip(spec_.picture.width, spec_.rows, spec_.type, spec_.nodata);
    std::size_t next = 0;
    for (std::int64_t top = 0; top < spec_.picture.height; top += spec_.rows) {
      const std::int64_t rows = std::min(spec_.rows, spec_.picture.height - top);
      std::erase_if(loaded_, [&](const PlacedTile& tile) { return tile.end(1) <= top; });
      while (next < by_top_.size() &&
             positions_[by_top_[next]].y < static_cast<double>(top + rows)) {
        load(by_top_[next++], top);
      }
      const auto channels = static_cast<std::size_t>(spec_.channels);
      std::vector<std::vector<std::byte>> planes(channels);
      std::vector<HostImage> images;
      for (std::size_t c = 0; c < channels; ++c) {
        planes[c] = strip.blend(loaded_, c, 0, top, rows);
        images.push_back({planes[c].data(), spec_.type, spec_.picture.width, rows, 0});
      }
      sink(top, images);
    }
  }

 private:
  void load(std::size_t i, std::int64_t top) {
    PlacedTile tile = loader_.place(tiles_[i].shape, {positions_[i].x, positions_[i].y, 0});
    if (tile.end(1) <= top) return;
    for (int c = 0; c < spec_.channels; ++c) {
      const TilePixels pixels = source_(i, c);
      if (pixels.image.data == nullptr) return;
      check_tile_pixels(stage, i, pixels.image.shape(), pixels.image.type, tiles_[i].shape,
                        spec_.type);
      loader_.add_channel(tile, dense(pixels.image));
    }
    loaded_.push_back(std::move(tile));
  }

  TileLoader loader_;
  std::span<const MosaicTile> tiles_;
  std::span<const Point> positions_;
  const ChannelSource& source_;
  const FusionSpec& spec_;
  std::vector<std::size_t> by_top_;
  std::vector<PlacedTile> loaded_;
};

void check(std::span<const MosaicTile> tiles, std::span<const Point> positions,
           const ChannelSource& source, const FusionSpec& spec, const RowSink& sink) {
  if (!source) refuse(stage, "source is empty; a source of pixels is needed");
  if (!sink) refuse(stage, "sink is empty; a sink for rows is needed");
  check_array(stage, "the picture", spec.picture);
  if (spec.picture.depth != 1) refuse(stage, "the picture's depth must be 1");
  check_fusion<Point>(stage, tiles, positions, spec.type, spec.nodata, 1);
  if (spec.channels < 1) refuse(stage, "channels must be at least 1");
  if (spec.rows < 1) refuse(stage, "rows must be at least 1");
}

}  // namespace

void fuse_tiles(const Device& device, std::span<const MosaicTile> tiles,
                std::span<const Point> positions, const ChannelSource& source,
                const FusionSpec& spec, const RowSink& sink) {
  check(tiles, positions, source, spec, sink);
  Fusion(device, tiles, positions, source, spec).run(sink);
}

}  // namespace warpalign
