// Registers the overlaps of tiles in one batch.
#pragma once

#include "mosaic/measured_pair.hpp"
#include "mosaic/overlap.hpp"
#include "mosaic/pair_records.hpp"
#include "mosaic/tile_cache.hpp"

#include <warpalign/mosaic.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// Sorts pairs by the numbers of their tiles, the larger one first.
void sort_by_numbers(std::vector<MeasuredPair>& pairs);

/// The pixels of both tiles, kept together.
struct TwoTiles {
  TilePixels reference;
  TilePixels moving;
};

/// A part of an image, which shares its memory.
[[nodiscard]] HostImage window_of(const HostImage& image, const TileWindow& window);

/// Registers the overlap of each pair, as it is if the expected shift is wrong by up to `margin`
/// pixels. With an infinite margin, registers whole tiles at any shift. Sets every outcome but
/// `contradicted`. Pairs with a record are not registered. Throws as align_batch() does, and what
/// the tiles' source throws.
[[nodiscard]] std::vector<MeasuredPair> register_overlaps(
    std::span<const Device> devices, std::span<const MosaicTile> tiles, TileCache& cache,
    std::span<const ExpectedPair> pairs, double margin, const MosaicOptions& options,
    PairRecords& records);

}  // namespace warpalign::detail
