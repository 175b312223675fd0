// Grids of fields, and their samples in a file's order.
#pragma once

#include <warpalign/transform.hpp>

#include <span>
#include <vector>

namespace warpalign::transform_files {

/// A grid as ITK writes it: sizes, origin, spacing, and the direction matrix row by row. Throws
/// Error(invalid_argument).
[[nodiscard]] PointGrid grid_of_itk(int dimensions, std::span<const double> fixed);
[[nodiscard]] std::vector<double> itk_of_grid(int dimensions, const PointGrid& grid);
/// An extent that a file gives as a number. Throws Error unless it is a whole number of 1 to 2^30.
[[nodiscard]] std::int64_t extent_of(double number);

/// A displacement field of world coordinates from its vectors, point by point. Throws Error unless
/// there is one for each point.
[[nodiscard]] Transform displacement_of(const PointGrid& grid, int dimensions,
                                        std::span<const double> vectors);
/// A B-spline of world coordinates from all coefficients of x, then those of y, and z.
[[nodiscard]] Transform bspline_of(const PointGrid& grid, int dimensions,
                                   std::span<const double> coefficients);

/// The samples of a field, point by point or component by component.
[[nodiscard]] std::vector<double> interleaved_samples(const Transform& field);
[[nodiscard]] std::vector<double> planar_samples(const Transform& field);

}  // namespace warpalign::transform_files
