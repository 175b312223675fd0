// The largest tiles that fit into a device's memory.
#include "tiles/fitting_tiles.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace warpalign::detail {
namespace {

/// Smaller tiles would spend most of their time on halos and launches.
constexpr std::int64_t min_tile_pixels = 1024;

std::size_t largest_allocation(const ResampleSpec& spec, const Tile& tile) {
  const auto pixels =
      static_cast<std::size_t>(std::max(tile.input.shape.pixels(), tile.output.shape.pixels()));
  return pixels * std::max({size_of(spec.input), size_of(spec.output_type), sizeof(float)});
}

std::size_t needed_bytes(const ResampleSpec& spec, const Tile& tile, const MemoryLimit& limit) {
  const auto pixels = static_cast<std::size_t>(tile.output.shape.pixels());
  return tile_bytes(spec, tile) + pixels * limit.per_pixel;
}

/// All tiles; if one does not fit, the first such tile in `too_large`.
std::vector<Tile> tiles_of(const ResampleSpec& spec,
                           const std::function<Tile(const Region&)>& tile_of_region,
                           const Shape& shape, const MemoryLimit& limit,
                           std::optional<Tile>& too_large) {
  std::vector<Tile> all;
  for (const Region& region : regions_of(spec.output, shape)) {
    all.push_back(tile_of_region(region));
    if (fits(spec, all.back(), limit)) continue;
    too_large = all.back();
    break;
  }
  return all;
}

/// The number of parts along each axis.
struct Parts {
  std::int64_t x = 1, y = 1, z = 1;
};

Shape shape_of(const Shape& output, const Parts& parts) {
  const auto part = [](std::int64_t extent, std::int64_t count) {
    return (extent + count - 1) / count;
  };
  return {part(output.width, parts.x), part(output.height, parts.y), part(output.depth, parts.z)};
}

/// Increases the number of parts along the longest side of a tile, so that tiles are nearly square:
/// a rotated square needs the fewest samples outside of itself. Adding one part at a time finds the
/// largest tile that fits; with many parts, an eighth more is precise enough.
void divide(Parts& parts, const Shape& tile) {
  std::int64_t& most = tile.depth > tile.height && tile.depth > tile.width ? parts.z
                       : tile.height >= tile.width                         ? parts.y
                                                                           : parts.x;
  most += 1 + most / 8;
}

}  // namespace

bool fits(const ResampleSpec& spec, const Tile& tile, const MemoryLimit& limit) {
  if (needed_bytes(spec, tile, limit) > limit.bytes) return false;
  return limit.max_allocation == 0 || largest_allocation(spec, tile) <= limit.max_allocation;
}

std::vector<Region> regions_of(const Shape& output, const Shape& tile) {
  std::vector<Region> regions;
  for (std::int64_t z = 0; z < output.depth; z += tile.depth) {
    for (std::int64_t y = 0; y < output.height; y += tile.height) {
      for (std::int64_t x = 0; x < output.width; x += tile.width) {
        regions.push_back(
            {{x, y, z},
             {std::min(tile.width, output.width - x), std::min(tile.height, output.height - y),
              std::min(tile.depth, output.depth - z)}});
      }
    }
  }
  return regions;
}

std::vector<Tile> fitting_tiles(const ResampleSpec& spec,
                                const std::function<Tile(const Region&)>& tile_of_region,
                                const MemoryLimit& limit) {
  Parts parts;
  for (;;) {
    const Shape shape = shape_of(spec.output, parts);
    std::optional<Tile> too_large;
    std::vector<Tile> all = tiles_of(spec, tile_of_region, shape, limit, too_large);
    if (!too_large) return all;
    if (shape.pixels() <= min_tile_pixels) {
      throw Error(ErrorKind::out_of_memory,
                  "a tile of " + to_string(too_large->output.shape) + " pixels needs " +
                      std::to_string(needed_bytes(spec, *too_large, limit)) +
                      " bytes of device memory for " + to_string(too_large->input.shape) +
                      " samples, but the limit is " + std::to_string(limit.bytes) +
                      "; use a device with more memory, or raise WARPALIGN_MAX_DEVICE_MEMORY",
                  {.stage = "tiles"});
    }
    divide(parts, shape);
  }
}

}  // namespace warpalign::detail
