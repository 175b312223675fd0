// Small images of one structure on an even background: a square, a letter, a cell.
#pragma once

#include <warpalign/geometry.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// An image whose pixels are background but for one structure, which touches no edge.
struct CompactStructure {
  std::int64_t width = 0, height = 0;
  std::vector<float> values;  ///< row by row, smoothed; the background at 0
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;  ///< of the structure, inclusive
  double noise = 0;  ///< standard deviation of the background's
};

/// Finds the structure of an image, row by row. Nothing if the background is not even, or if what
/// is beside it is no single structure.
[[nodiscard]] std::optional<CompactStructure> compact_structure(std::vector<float> values,
                                                                std::int64_t width,
                                                                std::int64_t height);

/// The shift at which two structures match.
struct StructureMatch {
  Point shift;             ///< reference -> moving
  double correlation = 0;  ///< over the structure and a margin
  double z_score = 0;      ///< Fisher's, of independent pixels
};

/// Nothing unless the structures differ by little more than noise.
[[nodiscard]] std::optional<StructureMatch> match(const CompactStructure& reference,
                                                  const CompactStructure& moving);

}  // namespace warpalign::detail
