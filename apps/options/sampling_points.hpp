// The options that define the points at which `warpalign resample` samples its input.
#pragma once

#include "io/npy.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The options as typed, unchecked.
struct PointOptions {
  std::optional<std::string> matrix;
  std::optional<double> rotate;
  std::optional<std::string> center;
  std::optional<double> zoom;
  std::optional<std::string> coordinates;
  std::optional<std::string> field;
  std::optional<std::string> shape;
};

struct SamplingPoints {
  std::vector<std::int64_t> extents;  ///< of the output, the slowest axis first
  HomogeneousMatrix transform;        ///< output to input, used if there are no coordinates
  /// The coordinates in InterpolatePlan's layout: one array of stage_shape per axis, x first.
  std::optional<Array> coordinates;
  /// The output's shape for the stage. If the coordinates have more dimensions than the input,
  /// they are flattened into one row.
  Shape stage_shape;
};

/// Throws UsageError unless the options define the points in exactly one of the five ways and the
/// other options suit it.
void check_points(const PointOptions& options);

/// The points for an input of these extents. Reads the coordinates or displacements from their
/// file, and converts them to f32 or, with `in_double`, to f64. Throws UsageError or FileError.
[[nodiscard]] SamplingPoints points_of(const PointOptions& options,
                                       const std::vector<std::int64_t>& input, bool in_double);

}  // namespace warpalign::program
