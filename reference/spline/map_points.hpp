// The oracle of map_points: the value of a displacement field, from the definition of its splines.
#pragma once

#include "reference/spline/basis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

/// A component of a field: samples or coefficients on a grid, x fastest.
struct FieldComponent {
  std::array<std::int64_t, 3> extent;  ///< along x, y and z; 1 along z in the plane
  std::vector<double> values;
  int degree = 1;           ///< 1: linear between samples; 3: coefficients of a cubic B-spline
  std::int64_t margin = 0;  ///< the field is defined from this index to the last but this one

  /// The sum of values times B-splines at an index, which is moved to the nearest defined one.
  /// Values beyond the grid are mirrored (Unser, 1999).
  [[nodiscard]] double at(std::array<double, 3> index) const {
    double sum = 0;
    std::array<std::int64_t, 3> first{};
    std::array<std::int64_t, 3> count{1, 1, 1};
    for (std::size_t a = 0; a < 3; ++a) {
      const auto low = static_cast<double>(extent[a] == 1 ? 0 : margin);
      const auto high = static_cast<double>(extent[a] - 1) - low;
      index[a] = std::clamp(index[a], low, high);
      if (extent[a] == 1) continue;
      first[a] = static_cast<std::int64_t>(std::floor(index[a])) - 2;
      count[a] = 6;
    }
    for (std::int64_t k = first[2]; k < first[2] + count[2]; ++k) {
      for (std::int64_t j = first[1]; j < first[1] + count[1]; ++j) {
        for (std::int64_t i = first[0]; i < first[0] + count[0]; ++i) {
          sum += weight(index, 0, i) * weight(index, 1, j) * weight(index, 2, k) *
                 values[static_cast<std::size_t>(
                     (mirrored(k, 2) * extent[1] + mirrored(j, 1)) * extent[0] + mirrored(i, 0))];
        }
      }
    }
    return sum;
  }

 private:
  [[nodiscard]] double weight(const std::array<double, 3>& index, std::size_t axis,
                              std::int64_t i) const {
    return extent[axis] == 1 ? 1 : beta(degree, index[axis] - static_cast<double>(i));
  }
  [[nodiscard]] std::int64_t mirrored(std::int64_t i, std::size_t axis) const {
    return extended_index(Edge::mirror, i, extent[axis]);
  }
};

}  // namespace reference
