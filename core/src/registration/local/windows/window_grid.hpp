// The grid of windows of a frame.
#pragma once

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/local_motion.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// The windows of a frame: their size, their number along each axis, and the upper left pixel of
/// each, row by row.
struct WindowGrid {
  Shape window;
  std::int64_t across = 1, down = 1;
  std::vector<WindowOrigin> origins;
};

/// Throws Error(invalid_argument) if the options do not fit the frame.
[[nodiscard]] WindowGrid window_grid(const Shape& frame, const WindowOptions& options);

}  // namespace warpalign::detail
