// Blocks over images of several sizes, one behind the other in one buffer.
#include "features/plane_groups.hpp"

#include <algorithm>
#include <cstdint>

namespace warpalign::cuda {

dim3 blocks_over(std::span<const Shape> planes, int rows) {
  const auto rectangles = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  std::int64_t most = 1;
  for (const Shape& plane : planes) {
    most = std::max(most, rectangles(plane.width, plane_columns) * rectangles(plane.height, rows));
  }
  return {static_cast<unsigned>(most), static_cast<unsigned>(planes.size()), 1};
}

}  // namespace warpalign::cuda
