// Grids and memory of the kernels that use lib/separable_simd.h.
#pragma once

#include "device/kernel.hpp"

#include "lib/launch.h"

namespace warpalign::opencl {

/// One work-item for each block of WA_SEPARABLE_COLUMNS columns by sixteen rows.
[[nodiscard]] inline Grid separable_column_blocks(std::int64_t columns, std::int64_t rows) {
  return {{static_cast<std::size_t>(divide_up(columns, WA_SEPARABLE_COLUMNS)),
           static_cast<std::size_t>(divide_up(rows, 16))},
          {1, 1}};
}

/// The size of the intermediate result between the pass over columns and the pass over rows:
/// `planes` planes with the input's columns and the output's rows.
[[nodiscard]] inline std::size_t separable_bytes(std::int64_t columns, std::int64_t rows,
                                                 std::int64_t planes) {
  return static_cast<std::size_t>(planes * columns) * rounded_up(rows, 16) * sizeof(cl_float);
}

}  // namespace warpalign::opencl
