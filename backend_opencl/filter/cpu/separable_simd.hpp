// Grids and memory of kernels by formulas/opencl_separable_lanes.h.
#pragma once

#include "device/kernel.hpp"

namespace warpalign::opencl {

/// Strips of `columns` of blocks of sixteen of `rows`.
[[nodiscard]] inline Grid separable_column_blocks(std::int64_t columns, std::int64_t rows) {
  constexpr std::int64_t column_block = 128;  // STRIP
  return {{static_cast<std::size_t>(divide_up(columns, column_block)),
           static_cast<std::size_t>(divide_up(rows, 16))},
          {1, 1}};
}

/// What stands between the columns and the rows: `planes` of an input's columns, an output's rows.
[[nodiscard]] inline std::size_t separable_bytes(std::int64_t columns, std::int64_t rows,
                                                 std::int64_t planes) {
  return static_cast<std::size_t>(planes * columns) * rounded_up(rows, 16) * sizeof(cl_float);
}

}  // namespace warpalign::opencl
