// Square matrices of two and three rows, and vectors.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace warpalign::detail {

using Matrix2 = std::array<double, 4>;  // row-major
using Matrix3 = std::array<double, 9>;
using Vector3 = std::array<double, 3>;

[[nodiscard]] constexpr Matrix3 identity3() { return {1, 0, 0, 0, 1, 0, 0, 0, 1}; }

namespace small_matrix {

template <std::size_t rows>
[[nodiscard]] std::array<double, rows * rows> product(const std::array<double, rows * rows>& a,
                                                      const std::array<double, rows * rows>& b) {
  std::array<double, rows * rows> c{};
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      for (std::size_t k = 0; k < rows; ++k) c[rows * i + j] += a[rows * i + k] * b[rows * k + j];
    }
  }
  return c;
}

}  // namespace small_matrix

[[nodiscard]] inline Matrix2 product(const Matrix2& a, const Matrix2& b) {
  return small_matrix::product<2>(a, b);
}
[[nodiscard]] inline Matrix3 product(const Matrix3& a, const Matrix3& b) {
  return small_matrix::product<3>(a, b);
}
[[nodiscard]] inline Vector3 product(const Matrix3& a, const Vector3& v) {
  return {a[0] * v[0] + a[1] * v[1] + a[2] * v[2], a[3] * v[0] + a[4] * v[1] + a[5] * v[2],
          a[6] * v[0] + a[7] * v[1] + a[8] * v[2]};
}

[[nodiscard]] inline double determinant(const Matrix2& a) { return a[0] * a[3] - a[1] * a[2]; }
[[nodiscard]] inline double determinant(const Matrix3& a) {
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
         a[2] * (a[3] * a[7] - a[4] * a[6]);
}

[[nodiscard]] inline Matrix2 transposed(const Matrix2& a) { return {a[0], a[2], a[1], a[3]}; }

/// Returns nothing if the determinant is 0 or NaN.
[[nodiscard]] inline std::optional<Matrix2> inverse(const Matrix2& a) {
  const double d = determinant(a);
  if (!(std::abs(d) > 0)) return std::nullopt;
  return Matrix2{a[3] / d, -a[1] / d, -a[2] / d, a[0] / d};
}

/// The determinant must not be 0.
[[nodiscard]] inline Matrix3 inverse_transposed(const Matrix3& a) {
  const double d = determinant(a);
  return {(a[4] * a[8] - a[5] * a[7]) / d, (a[5] * a[6] - a[3] * a[8]) / d,
          (a[3] * a[7] - a[4] * a[6]) / d, (a[2] * a[7] - a[1] * a[8]) / d,
          (a[0] * a[8] - a[2] * a[6]) / d, (a[1] * a[6] - a[0] * a[7]) / d,
          (a[1] * a[5] - a[2] * a[4]) / d, (a[2] * a[3] - a[0] * a[5]) / d,
          (a[0] * a[4] - a[1] * a[3]) / d};
}

}  // namespace warpalign::detail
