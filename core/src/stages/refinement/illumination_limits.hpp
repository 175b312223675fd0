// Limits of the grid of local illumination.
#pragma once

namespace warpalign {

/// The largest side of a cell, in pixels.
inline constexpr int max_illumination_cell = 64;

}  // namespace warpalign
