// fuse_tiles(): resamples each tile to the picture's grid, and blends tiles where they overlap.
#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "mosaic/blended_strip.hpp"
#include "mosaic/tile_corners.hpp"
#include "mosaic/tile_loader.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <warpalign/mosaic.hpp>

#include <algorithm>
#include <cmath>
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
///
/// `Place`: where the tiles lie, of which `place(loader, tile)` returns a tile without channels,
/// and `top(tile)` its first row.
template <class Place>
class Fusion {
 public:
  Fusion(const Device& device, std::span<const MosaicTile> tiles, const Place& place,
         const ChannelSource& source, const FusionSpec& spec)
      : loader_(device, 2, spec.type, spec.distortion, spec.nodata),
        tiles_(tiles),
        place_(place),
        source_(source),
        spec_(spec) {
    by_top_.resize(tiles.size());
    std::iota(by_top_.begin(), by_top_.end(), std::size_t{0});
    std::stable_sort(by_top_.begin(), by_top_.end(),
                     [&](std::size_t a, std::size_t b) { return place.top(a) < place.top(b); });
  }

  void run(const RowSink& sink) {
    BlendedStrip strip(spec_.picture.width, spec_.rows, spec_.type, spec_.nodata);
    std::size_t next = 0;
    for (std::int64_t top = 0; top < spec_.picture.height; top += spec_.rows) {
      const std::int64_t rows = std::min(spec_.rows, spec_.picture.height - top);
      std::erase_if(loaded_, [&](const PlacedTile& tile) { return tile.end(1) <= top; });
      while (next < by_top_.size() && place_.top(by_top_[next]) < static_cast<double>(top + rows)) {
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
    PlacedTile tile = place_.place(loader_, i);
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
  const Place& place_;
  const ChannelSource& source_;
  const FusionSpec& spec_;
  std::vector<std::size_t> by_top_;
  std::vector<PlacedTile> loaded_;
};

/// Tiles that are shifted.
struct ShiftedPlaces {
  std::span<const MosaicTile> tiles;
  std::span<const Point> positions;

  [[nodiscard]] double top(std::size_t tile) const { return positions[tile].y; }
  [[nodiscard]] PlacedTile place(const TileLoader& loader, std::size_t tile) const {
    return loader.place(tiles[tile].shape, {positions[tile].x, positions[tile].y, 0});
  }
};

/// Tiles that are rotated, scaled or tilted.
class RotatedPlaces {
 public:
  RotatedPlaces(std::span<const MosaicTile> tiles, std::span<const Homography> matrices)
      : tiles_(tiles), matrices_(matrices) {
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const auto& [least, largest] = bounds_of(matrices[i], tiles[i].shape);
      tops_.push_back(least.y);
      const auto side = [](double from, double to) {
        return pixel_before(to) - pixel_before(from) + 1;
      };
      grid_.width = std::max(grid_.width, side(least.x, largest.x));
      grid_.height = std::max(grid_.height, side(least.y, largest.y));
    }
  }

  [[nodiscard]] double top(std::size_t tile) const { return tops_[tile]; }
  [[nodiscard]] PlacedTile place(const TileLoader& /*loader*/, std::size_t tile) const {
    return TileLoader::place(tiles_[tile].shape, matrices_[tile], grid_);
  }

 private:
  std::span<const MosaicTile> tiles_;
  std::span<const Homography> matrices_;
  std::vector<double> tops_;
  Shape grid_{1, 1, 1};  ///< of the grid's part that the largest tile fills
};

/// Throws unless a matrix maps its tile to a place within the limits of positions.
std::vector<Point> checked_places(std::span<const MosaicTile> tiles,
                                  std::span<const Homography> matrices) {
  std::vector<Point> places;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    if (i >= tiles.size()) break;
    double sum = 0;
    for (const double element : matrices[i].h) sum += element;
    const std::string name = "the matrix of tile " + std::to_string(i);
    if (!std::isfinite(sum)) refuse(stage, name + " is not finite");
    if (!is_regular(matrices[i], tiles[i].shape)) {
      refuse(stage, name + " maps pixels of the tile to infinity");
    }
    const auto& [least, largest] = bounds_of(matrices[i], tiles[i].shape);
    if (!(largest.x - least.x > 0) || !(largest.y - least.y > 0) ||
        !(std::abs(LocalMap(matrices[i], {0, 0}).area()) > 0)) {
      refuse(stage, name + " is singular");
    }
    places.push_back({std::max(std::abs(least.x), std::abs(largest.x)),
                      std::max(std::abs(least.y), std::abs(largest.y))});
  }
  places.resize(matrices.size());
  return places;
}

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
  Fusion(device, tiles, ShiftedPlaces{tiles, positions}, source, spec).run(sink);
}

void fuse_tiles(const Device& device, std::span<const MosaicTile> tiles,
                std::span<const Homography> matrices, const ChannelSource& source,
                const FusionSpec& spec, const RowSink& sink) {
  if (!spec.distortion.is_zero()) {
    refuse(stage, "tiles with matrices have no common distortion; pass positions, or leave it out");
  }
  check(tiles, checked_places(tiles, matrices), source, spec, sink);
  Fusion(device, tiles, RotatedPlaces(tiles, matrices), source, spec).run(sink);
}

}  // namespace warpalign
