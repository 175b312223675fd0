// Matrices of transforms in two and three dimensions.
#include "transforms/matrices.hpp"
#include "transforms/refuse.hpp"

#include "registration/numerics/small_solver.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

namespace warpalign::detail {

namespace {

// Files give matrices with about seven digits.
constexpr double kind_tolerance = 1e-6;
// Rounding leaves nothing of an inverse beyond this condition number.
constexpr double max_condition = 1e15;

/// The mean squared length of the columns of the linear part, if they are orthogonal, have the same
/// length and do not mirror; else 0.
double squared_scale(const HomogeneousMatrix& matrix, int dimensions) {
  const Matrix3 a = linear_part(matrix);
  const auto n = static_cast<std::size_t>(dimensions);
  Matrix3 gram{};
  double scale = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) gram[3 * i + j] += a[3 * k + i] * a[3 * k + j];
    }
    scale += gram[3 * i + i] / dimensions;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double expected = i == j ? scale : 0;
      if (std::abs(gram[3 * i + j] - expected) > kind_tolerance * scale) return 0;
    }
  }
  return determinant(a) > 0 ? scale : 0;
}

/// The largest sum of absolute values of a row, of the upper left `size` x `size` elements.
double norm_of(const HomogeneousMatrix& matrix, std::size_t size) {
  double largest = 0;
  for (std::size_t row = 0; row < size; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < size; ++column) {
      sum += std::abs(matrix.m[4 * row + column]);
    }
    largest = sum > largest || std::isnan(sum) ? sum : largest;
  }
  return largest;
}

void check_plane(const HomogeneousMatrix& matrix) {
  const auto& m = matrix.m;
  const bool keeps_z =
      m[2] == 0 && m[6] == 0 && m[8] == 0 && m[9] == 0 && m[10] == 1 && m[11] == 0 && m[14] == 0;
  if (!keeps_z) refuse_transform("the matrix of a transform in two dimensions must keep z");
}

}  // namespace

Matrix3 linear_part(const HomogeneousMatrix& matrix) noexcept {
  const auto& m = matrix.m;
  return {m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]};
}

void check_matrix(TransformKind kind, int dimensions, const HomogeneousMatrix& matrix) {
  if (dimensions != 2 && dimensions != 3) {
    refuse_transform("a transform has 2 or 3 dimensions, not " + std::to_string(dimensions));
  }
  if (kind > TransformKind::homography) {
    refuse_transform(
        "a matrix makes a translation, rigid, similarity or affine transform, or a homography");
  }
  if (!std::all_of(matrix.m.begin(), matrix.m.end(), [](double v) { return std::isfinite(v); })) {
    refuse_transform("the matrix of a transform contains NaN or infinity");
  }
  if (dimensions == 2) check_plane(matrix);
  if (kind == TransformKind::homography) return;
  if (!matrix.is_affine()) {
    refuse_transform("the last row of the matrix must be 0, ..., 0, 1, unless it is a homography");
  }
  if (kind == TransformKind::translation && linear_part(matrix) != identity3()) {
    refuse_transform(
        "the matrix of a translation must be the identity, except for its last column");
  }
  if (kind == TransformKind::rigid || kind == TransformKind::similarity) {
    const double scale = squared_scale(matrix, dimensions);
    if (scale == 0) {
      refuse_transform(
          "the matrix is not a rotation, or a rotation with a uniform scale: use an affine "
          "transform");
    }
    if (kind == TransformKind::rigid && std::abs(scale - 1) > kind_tolerance) {
      refuse_transform("the matrix of a rigid transform has the scale " +
                       std::to_string(std::sqrt(scale)) + ": use a similarity");
    }
  }
}

HomogeneousMatrix product(const HomogeneousMatrix& second,
                          const HomogeneousMatrix& first) noexcept {
  HomogeneousMatrix result;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += second.m[4 * row + k] * first.m[4 * k + column];
      result.m[4 * row + column] = sum;
    }
  }
  return result;
}

HomogeneousMatrix inverse_of(const HomogeneousMatrix& matrix) {
  HomogeneousMatrix result;
  for (std::size_t column = 0; column < 4; ++column) {
    std::array<double, 16> a = matrix.m;
    std::array<double, 4> b{};
    b[column] = 1;
    if (!solve_general(a, b))
      refuse_transform("the matrix is singular: this transform has no inverse");
    for (std::size_t row = 0; row < 4; ++row) result.m[4 * row + column] = b[row];
  }
  // Whether an affine matrix has an inverse does not depend on its translation, which is large for
  // the coordinates of a map. `!` also refuses NaN.
  const std::size_t size = matrix.is_affine() ? 3 : 4;
  if (!(norm_of(matrix, size) * norm_of(result, size) < max_condition)) {
    refuse_transform("the matrix is singular: this transform has no inverse");
  }
  if (matrix.is_affine()) {
    std::fill_n(result.m.begin() + 12, 3, 0.0);
    result.m[15] = 1;
  }
  return result;
}

}  // namespace warpalign::detail
