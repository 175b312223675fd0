// Whether the light on two images differs from place to place.
#pragma once

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A part of a frame: columns and rows, the ends excluded.
struct FrameCell {
  std::int32_t first_column = 0, end_column = 0;
  std::int32_t first_row = 0, end_row = 0;
};

/// The cells that a frame is divided into, so that the gain and offset of each can be compared.
[[nodiscard]] std::vector<FrameCell> cells_of(const Shape& frame);

/// The same evaluation within a cell only, of which perhaps nothing counts.
[[nodiscard]] ShiftState within_cell(ShiftState state, const FrameCell& cell);

/// Whether one gain and one offset for the whole frame explain it nearly as well as those of each
/// cell would. Where they do not, uneven illumination moves the shift.
[[nodiscard]] bool is_evenly_lit(std::span<const ShiftSums> cells, double gain, double offset);

}  // namespace warpalign::detail
