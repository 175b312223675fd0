// Registers the overlaps of volume tiles in one batch.
#pragma once

#include "mosaic/measured_pair.hpp"
#include "mosaic/tile_cache.hpp"

#include <warpalign/volume_mosaic.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// The tiles of a mosaic of volumes for a TileCache: images whose rows are those of all planes.
[[nodiscard]] std::vector<MosaicTile> tiles_of_rows(std::span<const VolumeMosaicTile> tiles);
/// Such images, from a source of volumes. Throws what the source throws, and
/// Error(invalid_argument) for voxels of another shape.
[[nodiscard]] TileSource source_of_rows(std::span<const VolumeMosaicTile> tiles,
                                        const VolumeTileSource& source);

/// Registers the overlap of each pair, as it is if the expected shift is wrong by up to `margin`
/// voxels. Sets every outcome but `ambiguous` and `contradicted`. `cache` has the tiles of
/// tiles_of_rows(). Throws as align_batch() does, and what the tiles' source throws.
[[nodiscard]] std::vector<MeasuredPairOf<Point3>> register_volume_overlaps(
    std::span<const Device> devices, std::span<const VolumeMosaicTile> tiles, TileCache& cache,
    std::span<const ExpectedPairOf<Point3>> pairs, double margin,
    const VolumeMosaicOptions& options);

}  // namespace warpalign::detail
