// The grid of a frame's windows; shifts are stored row by row.
#pragma once

#include <algorithm>
#include <cstddef>

namespace warpalign::detail {

struct ShiftGrid {
  std::size_t columns = 1;
  std::size_t rows = 1;

  [[nodiscard]] std::size_t count() const noexcept { return columns * rows; }
  [[nodiscard]] std::size_t index(std::size_t column, std::size_t row) const noexcept {
    return row * columns + column;
  }

  /// Calls visit(column, row) for the windows at most `reach` columns and rows away, including
  /// `window` itself.
  template <class Visit>
  void around(std::size_t window, std::size_t reach, Visit&& visit) const {
    const std::size_t column = window % columns;
    const std::size_t row = window / columns;
    for (std::size_t y = row - std::min(reach, row); y <= std::min(row + reach, rows - 1); ++y) {
      for (std::size_t x = column - std::min(reach, column);
           x <= std::min(column + reach, columns - 1); ++x) {
        visit(x, y);
      }
    }
  }
};

}  // namespace warpalign::detail
