// fuse_volume_tiles(): resamples each tile to the grid of the volume, and blends tiles where they
// overlap.
#include "device/check.hpp"
#include "mosaic/blended_strip.hpp"
#include "mosaic/tile_loader.hpp"

#include <warpalign/volume_mosaic.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

using namespace detail;

namespace {

constexpr const char* volume_stage = "fuse_volume_tiles";

/// One call of fuse_volume_tiles().
class VolumeFusion {
 public:
  VolumeFusion(const Device& device, std::span<const VolumeMosaicTile> tiles,
               std::span<const Point3> positions, const VolumeTileSource& source,
               const VolumeFusionSpec& spec)
      : loader_(device, 3, spec.type, {}, spec.nodata),
        tiles_(tiles),
        positions_(positions),
        source_(source),
        spec_(spec) {
    by_first_plane_.resize(tiles.size());
    std::iota(by_first_plane_.begin(), by_first_plane_.end(), std::size_t{0});
    std::stable_sort(by_first_plane_.begin(), by_first_plane_.end(),
                     [&](std::size_t a, std::size_t b) { return positions[a].z < positions[b].z; });
  }

  void run(const PlaneSink& sink) {
    const auto& [width, height, depth] = spec_.volume;
    BlendedStrip blended(width, height, spec_.type, spec_.nodata);
    const std::size_t plane_bytes = static_cast<std::size_t>(width * height) * size_of(spec_.type);
    std::size_t next = 0;
    for (std::int64_t first = 0; first < depth; first += spec_.planes) {
      const std::int64_t end = std::min(first + spec_.planes, depth);
      std::erase_if(loaded_, [&](const PlacedTile& tile) { return tile.end(2) <= first; });
      while (next < tiles_.size() &&
             positions_[by_first_plane_[next]].z < static_cast<double>(end)) {
        load(by_first_plane_[next++], first);
      }
      std::vector<std::byte> slab;
      slab.reserve(static_cast<std::size_t>(end - first) * plane_bytes);
      for (std::int64_t plane = first; plane < end; ++plane) {
        const std::vector<std::byte> rows = blended.blend(loaded_, 0, plane, 0, height);
        slab.insert(slab.end(), rows.begin(), rows.end());
      }
      sink(first, {slab.data(), spec_.type, {width, height, end - first}});
    }
  }

 private:
  void load(std::size_t i, std::int64_t first_plane) {
    PlacedTile tile = loader_.place(tiles_[i].shape, positions_[i]);
    if (tile.end(2) <= first_plane) return;
    const TileVoxels voxels = source_(i);
    const HostVolume& volume = voxels.volume;
    if (volume.data == nullptr) return;
    check_tile_pixels(volume_stage, i, volume.shape, volume.type, tiles_[i].shape, spec_.type);
    const auto* bytes = static_cast<const std::byte*>(volume.data);
    const auto count = static_cast<std::size_t>(volume.shape.pixels()) * size_of(volume.type);
    loader_.add_channel(tile, {bytes, bytes + count});
    loaded_.push_back(std::move(tile));
  }

  TileLoader loader_;
  std::span<const VolumeMosaicTile> tiles_;
  std::span<const Point3> positions_;
  const VolumeTileSource& source_;
  const VolumeFusionSpec& spec_;
  std::vector<std::size_t> by_first_plane_;
  std::vector<PlacedTile> loaded_;
};

}  // namespace

void fuse_volume_tiles(const Device& device, std::span<const VolumeMosaicTile> tiles,
                       std::span<const Point3> positions, const VolumeTileSource& source,
                       const VolumeFusionSpec& spec, const PlaneSink& sink) {
  if (!source) refuse(volume_stage, "source is empty; a source of voxels is needed");
  if (!sink) refuse(volume_stage, "sink is empty; a sink for planes is needed");
  check_array(volume_stage, "the volume", spec.volume);
  check_fusion<Point3>(volume_stage, tiles, positions, spec.type, spec.nodata, max_side);
  if (spec.planes < 1) refuse(volume_stage, "planes must be at least 1");
  VolumeFusion(device, tiles, positions, source, spec).run(sink);
}

}  // namespace warpalign
