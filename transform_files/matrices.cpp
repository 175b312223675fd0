// Matrices of the formats.
#include "matrices.hpp"

#include "text.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace warpalign::transform_files {

HomogeneousMatrix affine_matrix(int dimensions, std::span<const double> linear,
                                std::span<const double> translation) {
  const auto n = static_cast<std::size_t>(dimensions);
  HomogeneousMatrix matrix;
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      matrix.m[4 * row + column] = linear[n * row + column];
    }
    matrix.m[4 * row + 3] = translation[row];
  }
  return matrix;
}

HomogeneousMatrix affine_about(int dimensions, std::span<const double> linear,
                               std::span<const double> centre,
                               std::span<const double> translation) {
  const auto n = static_cast<std::size_t>(dimensions);
  HomogeneousMatrix matrix = affine_matrix(dimensions, linear, translation);
  for (std::size_t row = 0; row < n; ++row) {
    matrix.m[4 * row + 3] += centre[row];
    for (std::size_t column = 0; column < n; ++column) {
      matrix.m[4 * row + 3] -= linear[n * row + column] * centre[column];
    }
  }
  return matrix;
}

HomogeneousMatrix product(const HomogeneousMatrix& second, const HomogeneousMatrix& first) {
  const auto transform = [](const HomogeneousMatrix& matrix) {
    return Transform::of_matrix(TransformKind::homography, 3, matrix);
  };
  return *(transform(second) * transform(first)).matrix();
}

HomogeneousMatrix inverse_of(const HomogeneousMatrix& matrix) {
  return *Transform::of_matrix(TransformKind::homography, 3, matrix).inverse().matrix();
}

HomogeneousMatrix diagonal(double x, double y, double z) {
  return HomogeneousMatrix::affine3({x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0});
}

Transform affine(int dimensions, const HomogeneousMatrix& matrix, Coordinates coordinates) {
  const auto& m = matrix.m;
  const bool shift = m[0] == 1 && m[1] == 0 && m[2] == 0 && m[4] == 0 && m[5] == 1 && m[6] == 0 &&
                     m[8] == 0 && m[9] == 0 && m[10] == 1;
  return Transform::of_matrix(shift ? TransformKind::translation : TransformKind::affine,
                              dimensions, matrix, coordinates);
}

HomogeneousMatrix affine_part(const Transform& transform, std::string_view format) {
  const auto matrix = transform.matrix();
  if (!matrix) {
    refuse(std::string(format) + " holds affine transforms, no fields");
  }
  if (!matrix->is_affine()) {
    refuse(std::string(format) + " holds affine transforms, no homographies");
  }
  return *matrix;
}

std::vector<double> linear_of(const HomogeneousMatrix& matrix, int dimensions) {
  const auto n = static_cast<std::size_t>(dimensions);
  std::vector<double> linear;
  for (std::size_t i = 0; i < n * n; ++i) linear.push_back(matrix.m[4 * (i / n) + i % n]);
  return linear;
}

std::vector<double> translation_of(const HomogeneousMatrix& matrix, int dimensions) {
  std::vector<double> translation;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dimensions); ++i) {
    translation.push_back(matrix.m[4 * i + 3]);
  }
  return translation;
}

PointGrid grid_of(const Shape& shape, const HomogeneousMatrix& index_to_point) {
  const auto& m = index_to_point.m;
  PointGrid grid{.shape = shape, .origin = {m[3], m[7], m[11]}};
  std::array<double, 3> spacing{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    spacing[axis] = std::hypot(m[axis], m[4 + axis], m[8 + axis]);
    if (!(spacing[axis] > 0)) refuse("the image's voxels have no extent along an axis");
    for (std::size_t row = 0; row < 3; ++row) {
      grid.direction[3 * row + axis] = m[4 * row + axis] / spacing[axis];
    }
  }
  grid.spacing = {spacing[0], spacing[1], spacing[2]};
  return grid;
}

HomogeneousMatrix lps_ras() { return diagonal(-1, -1, 1); }

}  // namespace warpalign::transform_files
