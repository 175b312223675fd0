// Homogeneous matrices of one-, two- and three-dimensional grids.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/geometry.hpp>

#include <array>

namespace warpalign {

/// A projective transform of space: a homogeneous 4 x 4 matrix, row-major, acting on the column (x,
/// y, z, 1). The result is divided by its last component. For one- and two-dimensional grids the
/// unused coordinates are 0.
struct WARPALIGN_API HomogeneousMatrix {
  /// The matrix, row by row.
  std::array<double, 16> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

  HomogeneousMatrix() = default;
  /// An affine transform of the plane, which leaves z unchanged.
  HomogeneousMatrix(const Affine& plane) noexcept;  // NOLINT(google-explicit-constructor)

  /// A homography of the plane.
  HomogeneousMatrix(const Homography& plane) noexcept;  // NOLINT(google-explicit-constructor)

  /// A homography: (x, y) -> ((h0 x + h1 y + h2) / w, (h3 x + h4 y + h5) / w),
  /// w = h6 x + h7 y + h8.
  [[nodiscard]] static HomogeneousMatrix homography(const std::array<double, 9>& h) noexcept;
  /// An affine transform in space: three rows (a b c d), each acting on (x, y, z, 1).
  [[nodiscard]] static HomogeneousMatrix affine3(const std::array<double, 12>& rows) noexcept;
  /// The output-to-input transform of a zoom that keeps the centres of the corner pixels in place:
  /// x -> x (input - 1) / (output - 1) along each axis (0 if output is 1).
  [[nodiscard]] static HomogeneousMatrix zoom(const Shape& input, const Shape& output) noexcept;

  /// Whether the last row is (0, 0, 0, 1).
  [[nodiscard]] bool is_affine() const noexcept;
};

}  // namespace warpalign
