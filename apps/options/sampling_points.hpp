// Where `warpalign resample` reads its input: the options that say so, and what they mean.
#pragma once

#include "io/npy.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/transform.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// As they were typed.
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
  Transform transform;                ///< output to input, where there are no coordinates
  /// A field as InterpolatePlan takes it, x first: f32, a stack of arrays of the stage_shape.
  std::optional<Array> coordinates;
  /// The output's shape as the stage sees it: a field with more dimensions than the input is
  /// flattened into one row of points.
  Shape stage_shape;
};

/// Throws UsageError unless exactly one of the five ways is chosen and the other options fit it.
void check_points(const PointOptions& options);

/// For an input of these extents. Reads the file of coordinates or displacements. Throws UsageError
/// or FileError.
[[nodiscard]] SamplingPoints points_of(const PointOptions& options,
                                       const std::vector<std::int64_t>& input);

}  // namespace warpalign::program
