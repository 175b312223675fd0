// Matrices of the formats.
#pragma once

#include <warpalign/transform.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace warpalign::transform_files {

/// The affine matrix of the linear part (row by row, dimensions x dimensions) and the translation.
[[nodiscard]] HomogeneousMatrix affine_matrix(int dimensions, std::span<const double> linear,
                                              std::span<const double> translation);
/// The same, for p -> linear (p - centre) + centre + translation.
[[nodiscard]] HomogeneousMatrix affine_about(int dimensions, std::span<const double> linear,
                                             std::span<const double> centre,
                                             std::span<const double> translation);
[[nodiscard]] HomogeneousMatrix product(const HomogeneousMatrix& second,
                                        const HomogeneousMatrix& first);
/// Throws Error(invalid_argument) if it is singular.
[[nodiscard]] HomogeneousMatrix inverse_of(const HomogeneousMatrix& matrix);
/// A matrix with this diagonal, and 1.
[[nodiscard]] HomogeneousMatrix diagonal(double x, double y, double z);
/// An affine transform of this matrix: a translation if the linear part is the identity.
[[nodiscard]] Transform affine(int dimensions, const HomogeneousMatrix& matrix,
                               Coordinates coordinates);
/// The matrix of a transform that is affine. Throws Error, with the name of the format.
[[nodiscard]] HomogeneousMatrix affine_part(const Transform& transform, std::string_view format);
/// The first `dimensions` rows and columns of the linear part, row by row.
[[nodiscard]] std::vector<double> linear_of(const HomogeneousMatrix& matrix, int dimensions);
[[nodiscard]] std::vector<double> translation_of(const HomogeneousMatrix& matrix, int dimensions);
/// The grid of an image with this affine map from its indices to points.
[[nodiscard]] PointGrid grid_of(const Shape& shape, const HomogeneousMatrix& index_to_point);
/// Changes the sign of x and y: between LPS and RAS coordinates.
[[nodiscard]] HomogeneousMatrix lps_ras();

}  // namespace warpalign::transform_files
