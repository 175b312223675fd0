// Functions that the evaluation of splines of host arrays and of device arrays shares.
#pragma once

#include "arrays.hpp"

#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/spline_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warpalign::python {

inline HomogeneousMatrix transform_of(const std::vector<double>& matrix) {
  HomogeneousMatrix transform;
  if (matrix.size() != transform.m.size()) refuse("the matrix must have 16 numbers");
  std::copy(matrix.begin(), matrix.end(), transform.m.begin());
  return transform;
}

/// The spline model of a call of warpalign.ndimage. Degrees 0 and 1 have no prefilter.
inline SplineModel spline_of(int order, bool prefilter, const std::string& mode, double cval) {
  SplineModel spline{.degree = order, .boundary = boundary_of_name(mode), .cval = cval};
  if (!prefilter || order < 2) spline.prefilter.reset();
  return spline;
}

inline void check_dimensions(int dimensions) {
  if (dimensions < 1 || dimensions > 3) refuse("dimensions must be 1 to 3");
}

/// The number of arrays of this size to upload, compute and download together. One launch for many
/// small arrays keeps a GPU busy. On a CPU, an array should still be in the cache when it is
/// computed: 20 images of 1 MiB take twice as long together as one by one.
inline std::int64_t arrays_at_once(const Device& device, std::size_t count,
                                   std::size_t bytes_each) {
  const std::size_t bytes = std::size_t{device.info().kind == DeviceKind::cpu ? 1U : 32U} << 20;
  return static_cast<std::int64_t>(
      std::clamp<std::size_t>(bytes / std::max<std::size_t>(bytes_each, 1), 1, count));
}

}  // namespace warpalign::python
