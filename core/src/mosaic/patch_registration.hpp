// Registers small patches of overlaps in one batch.
#pragma once

#include "mosaic/overlap.hpp"
#include "mosaic/tile_cache.hpp"

#include <warpalign/mosaic.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Windows of two tiles, of the same size, that show about the same scene.
struct PatchPair {
  std::size_t reference = 0;
  std::size_t moving = 0;
  TileWindow in_reference;
  TileWindow in_moving;
};

/// Registers each pair as a translation. Returns what is added to pixels of the reference's window
/// to get those of the moving one's, or nothing for patches without a confident result. Throws as
/// align_batch() does, and what the tiles' source throws.
[[nodiscard]] std::vector<std::optional<Point>> register_patches(std::span<const Device> devices,
                                                                 TileCache& cache,
                                                                 std::span<const PatchPair> patches,
                                                                 const BatchOptions& options);

}  // namespace warpalign::detail
