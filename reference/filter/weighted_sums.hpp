// The oracle of weighted sums along an axis.
#pragma once

#include "reference/volume.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

/// A dense matrix, row by row: element (i, k) is the weight of sample k in sum i.
struct SumMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> weights;
  std::vector<double> added;  ///< to each sum
};

/// The product of the matrix and each line of a volume along y, plus `added`.
inline Volume sums_along_y(const Volume& volume, const SumMatrix& matrix) {
  Volume result(volume.width, matrix.rows, volume.depth);
  for_each_voxel(result.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    double sum = matrix.added[static_cast<std::size_t>(y)];
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      sum += matrix.weights[static_cast<std::size_t>(y * matrix.columns + k)] * volume.at(x, k, z);
    }
    result.at(x, y, z) = sum;
  });
  return result;
}

}  // namespace reference
