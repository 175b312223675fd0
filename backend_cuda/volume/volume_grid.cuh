// Helpers of the kernels for volumes: extents along the axes, and blocks that process rows.
#pragma once

#include "device/launch.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

namespace warpalign::cuda {

/// Integers along x, y and z.
struct Triple {
  int x, y, z;
};

[[nodiscard]] inline Triple sides_of(const Shape& shape, const CallSite& site) {
  return {extent(shape.width, site), extent(shape.height, site), extent(shape.depth, site)};
}

/// Converts numbers that fit an int.
[[nodiscard]] inline Triple triple_of(const std::array<std::int64_t, 3>& numbers) {
  return {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), static_cast<int>(numbers[2])};
}

/// Blocks whose warps process one row each at a time.
inline constexpr int row_warps = 4;
inline constexpr int row_threads = row_warps * warp_lanes;

[[nodiscard]] inline std::int64_t row_blocks(std::int64_t rows, const Context& context) {
  return std::clamp<std::int64_t>(divide_up(rows, row_warps), 1,
                                  4 * std::int64_t{context.multiprocessors});
}

}  // namespace warpalign::cuda
