// locate_volume_tiles(): pairs, positions, and a second round for pairs that the stage model moved.
#include <warpalign/volume_mosaic.hpp>

#include "device/check.hpp"
#include "mosaic/located_tiles.hpp"
#include "mosaic/overlap.hpp"
#include "mosaic/volume_pair_registration.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace warpalign {

using namespace detail;

namespace {

void check(std::span<const Device> devices, std::span<const VolumeMosaicTile> tiles,
           const VolumeTileSource& source, const VolumeMosaicOptions& options) {
  check_options(devices, tiles.size(), static_cast<bool>(source), options);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Shape& shape = tiles[i].shape;
    const std::string name = "tile " + std::to_string(i);
    check_shape(mosaic_stage, name.c_str(), shape, max_side);
    if (std::min({shape.width, shape.height, shape.depth}) < min_registered_volume_side) {
      refuse(mosaic_stage,
             name + " is " + to_string(shape) + "; registration needs sides of at least 8 voxels");
    }
    if (!is_finite(tiles[i].position)) {
      refuse(mosaic_stage,
             "the position of " + name + " is not finite; volume tiles need known positions");
    }
  }
}

/// How far a pair may be from its expected shift after a placement, in voxels. `used`: the number
/// of pairs that determine the stage's deviation.
double second_margin(double stage_deviation, std::ptrdiff_t used, double max_error) {
  constexpr double deviations = 5;  // of the difference between two tiles' errors, 3.5
  constexpr double least = 4;
  constexpr std::ptrdiff_t min_used = 3;
  if (used < min_used) return max_error;
  return std::min(max_error, std::max(least, deviations * stage_deviation));
}

}  // namespace

VolumeMosaic locate_volume_tiles(std::span<const Device> devices,
                                 std::span<const VolumeMosaicTile> tiles,
                                 const VolumeTileSource& source,
                                 const VolumeMosaicOptions& options) {
  check(devices, tiles, source, options);
  check_distinct_positions(tiles);
  std::vector<Shape> shapes;
  std::vector<Point3> nominal;
  for (const VolumeMosaicTile& tile : tiles) {
    shapes.push_back(tile.shape);
    nominal.push_back(tile.position);
  }
  const auto expected = overlapping_pairs(shapes, nominal);
  if (expected.empty()) {
    refuse(mosaic_stage, "no tiles overlap at these positions; check that their unit is voxels");
  }
  const double max_error = max_error_of(tiles, options.max_error);
  const std::vector<MosaicTile> rows = tiles_of_rows(tiles);
  const TileSource row_source = source_of_rows(tiles, source);
  TileCache cache(rows, row_source, options.cache_bytes);
  const auto register_within = [&](double margin) {
    return [&, margin](std::span<const ExpectedPairOf<Point3>> pairs) {
      return register_volume_overlaps(devices, tiles, cache, pairs, margin, options);
    };
  };
  auto pairs = register_within(max_error)(expected);
  auto placement = place_pairs<Point3>(tiles, pairs, max_error, true);
  // Where overlaps are a few planes thin, windows that are wider by `max_error` have little in
  // common. The positions say better where to look.
  const auto used = std::count(placement.used.begin(), placement.used.end(), true);
  const double margin = second_margin(placement.stage.deviation, used, max_error);
  const double min_move = 2 * margin <= max_error ? 0 : max_error / 3;
  if (register_moved_pairs(pairs, min_move, shifts_of(placement), register_within(margin))) {
    placement = place_pairs<Point3>(tiles, pairs, max_error, true);
  }
  VolumeMosaic mosaic;
  mosaic.stage = placement.stage;
  set_pairs(pairs, tiles.size(), residuals_of(placement.positions), mosaic);
  set_positions<Point3>(tiles, placement.positions, mosaic);
  return mosaic;
}

}  // namespace warpalign
