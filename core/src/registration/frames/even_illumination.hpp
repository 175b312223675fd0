// Detects illumination that varies over a frame relative to the reference.
#pragma once

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A rectangle of a frame; the end column and row are excluded.
struct FrameCell {
  std::int32_t first_column = 0, end_column = 0;
  std::int32_t first_row = 0, end_row = 0;
};

/// Divides a frame into cells, whose gains and offsets are compared.
[[nodiscard]] std::vector<FrameCell> cells_of(const Shape& frame);

/// Restricts an evaluation to a cell. The result may be empty.
[[nodiscard]] ShiftState restrict_to_cell(ShiftState state, const FrameCell& cell);

/// Whether one gain and one offset for the whole frame leave almost as small a residual as a gain
/// and an offset for each cell. If not, uneven illumination biases the estimated shift.
[[nodiscard]] bool has_even_illumination(std::span<const ShiftSums> cells, double gain,
                                         double offset);

}  // namespace warpalign::detail
