// What calls that evaluate splines of host arrays and of device arrays share.
#pragma once

#include "arrays.hpp"

#include <warpalign/transform.hpp>

#include <algorithm>
#include <vector>

namespace warpalign::python {

inline Transform transform_of(const std::vector<double>& matrix) {
  Transform transform;
  if (matrix.size() != transform.m.size()) refuse("a matrix has 16 numbers");
  std::copy(matrix.begin(), matrix.end(), transform.m.begin());
  return transform;
}

inline void check_dimensions(int dimensions) {
  if (dimensions < 1 || dimensions > 3) refuse("there are 1 to 3 dimensions");
}

/// How much of a device's memory and time one launch for several small arrays is worth.
constexpr std::size_t batch_bytes = std::size_t{32} << 20;

/// How many arrays of that size to upload, compute and download at once.
inline std::int64_t arrays_at_once(std::size_t count, std::size_t bytes_each) {
  return static_cast<std::int64_t>(
      std::clamp<std::size_t>(batch_bytes / std::max<std::size_t>(bytes_each, 1), 1, count));
}

}  // namespace warpalign::python
