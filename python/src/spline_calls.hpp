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

/// Throws ValueError unless both hold as many arrays with this number of dimensions.
inline void check_batches(const InputArray& images, const OutputArray& output, int dimensions) {
  check_dimensions(dimensions);
  const auto axes = static_cast<std::size_t>(dimensions) + 1;
  if (images.ndim() != axes || output.ndim() != axes || images.shape(0) != output.shape(0)) {
    refuse("images and output must be batches of the same length");
  }
}

/// Calls use(from, to, count) for each part of a batch that arrays_at_once() allows: the first
/// arrays of the input and of the output, and how many they are.
template <typename Use>
void for_parts(const Device& device, const InputArray& input, const OutputArray& output,
               const Use& use) {
  const std::size_t count = input.shape(0);
  if (count == 0) return;
  const auto* from = static_cast<const std::byte*>(input.data());
  auto* to = static_cast<std::byte*>(output.data());
  const std::size_t input_bytes = input.nbytes() / count;
  const std::size_t output_bytes = output.nbytes() / count;
  const std::int64_t at_once = arrays_at_once(device, count, input_bytes + output_bytes);
  for (std::size_t i = 0; i < count; i += static_cast<std::size_t>(at_once)) {
    use(from + i * input_bytes, to + i * output_bytes,
        std::min(at_once, static_cast<std::int64_t>(count - i)));
  }
}

}  // namespace warpalign::python
