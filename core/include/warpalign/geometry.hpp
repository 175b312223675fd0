// Transforms of the plane: affine transforms, homographies and similarities.
//
// Pixel centres have integer coordinates, x to the right, y down. A positive rotation rotates the
// image counter-clockwise as displayed.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/pixel.hpp>

#include <array>

namespace warpalign {

/// A point (x, y) of the plane, or a shift, in pixels.
struct Point {
  double x = 0;
  double y = 0;
};

/// A point (x, y, z) in space, or a shift, in voxels.
struct Point3 {
  double x = 0;
  double y = 0;
  double z = 0;
};

/// The centre of an image: ((width - 1) / 2, (height - 1) / 2), in pixels.
[[nodiscard]] constexpr Point centre_of(const Shape& shape) noexcept {
  return {(static_cast<double>(shape.width) - 1) / 2, (static_cast<double>(shape.height) - 1) / 2};
}

/// An affine transform of the plane: (x, y) -> (a x + b y + c, d x + e y + f). Coordinates are in
/// pixels, so c and f are too; a, b, d and e are ratios.
struct WARPALIGN_API Affine {
  double a = 1, b = 0, c = 0;
  double d = 0, e = 1, f = 0;

  /// Maps a point.
  [[nodiscard]] Point operator()(Point p) const noexcept;
  /// Composes two transforms: `(this * other)(p)` is `this(other(p))`.
  [[nodiscard]] Affine operator*(const Affine& other) const noexcept;
  /// The inverse. Throws Error(invalid_argument) if the transform is singular or not finite.
  [[nodiscard]] Affine inverse() const;

  /// A translation by (x, y) pixels.
  [[nodiscard]] static Affine translation(double x, double y) noexcept;
};

/// A projective transform of the plane, or homography:
/// (x, y) -> ((h0 x + h1 y + h2) / w, (h3 x + h4 y + h5) / w) with w = h6 x + h7 y + h8. If w is 0,
/// the point is mapped to infinity.
struct WARPALIGN_API Homography {
  /// The matrix, row by row; a common factor does not matter.
  std::array<double, 9> h{1, 0, 0, 0, 1, 0, 0, 0, 1};

  /// The identity.
  Homography() = default;
  /// The homography of a matrix, given row by row.
  Homography(const std::array<double, 9>& rows) noexcept  // NOLINT(google-explicit-constructor)
      : h(rows) {}
  /// The same transform, with the last row (0, 0, 1).
  Homography(const Affine& affine) noexcept;  // NOLINT(google-explicit-constructor)

  /// Maps a point.
  [[nodiscard]] Point operator()(Point p) const noexcept;
  /// Composes two transforms: `(this * other)(p)` is `this(other(p))`.
  [[nodiscard]] Homography operator*(const Homography& other) const noexcept;
  /// The inverse. Throws Error(invalid_argument) if the transform is singular or not finite.
  [[nodiscard]] Homography inverse() const;

  /// Whether the last row is (0, 0, 1): the transform is then affine() everywhere.
  [[nodiscard]] bool is_affine() const noexcept;
  /// The first two rows.
  [[nodiscard]] Affine affine() const noexcept;
  /// The affine transform that has the same value and the same derivatives at p.
  [[nodiscard]] Affine affine_at(Point p) const noexcept;
};

/// A similarity transform from a reference image to a moving image, by the parameters that a
/// registration reports.
///
/// With A = scale [[cos r, sin r], [-sin r, cos r]] (r = rotation), a reference point p is mapped
/// to A (p - reference centre) + moving centre + translation.
struct WARPALIGN_API Similarity {
  double rotation_deg = 0;  ///< > 0: the moving image's content is rotated counter-clockwise
  double scale = 1;         ///< > 1: the content is larger in the moving image
  Point translation;        ///< where the reference's centre is mapped to, relative to the moving
                            ///< image's centre, in moving pixels

  /// The transform from reference pixel coordinates to moving pixel coordinates.
  [[nodiscard]] Affine matrix(const Shape& reference, const Shape& moving) const noexcept;
  /// The parameters of a matrix that is a similarity; the inverse of matrix().
  [[nodiscard]] static Similarity of(const Affine& matrix, const Shape& reference,
                                     const Shape& moving) noexcept;
};

/// The smallest size >= n for which every FFT library used here is fast: a multiple of `multiple`
/// with no prime factors other than 2, 3, 5 and 7. Throws Error(invalid_argument) unless both
/// arguments are 1 to 2^30, and if `multiple` has other prime factors.
[[nodiscard]] WARPALIGN_API std::int64_t fft_friendly_size(std::int64_t n,
                                                           std::int64_t multiple = 1);

}  // namespace warpalign
