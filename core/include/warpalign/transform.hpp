// Transforms of the plane and of space: matrices, displacement fields, B-splines, and chains.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/pixel.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign {

namespace detail {
struct TransformState;
}

/// A regular grid of points. The point of the index (i, j, k) along x, y and z is
/// origin + direction * (i spacing.x, j spacing.y, k spacing.z). By default, a grid of `shape` is
/// the pixels of an image.
struct WARPALIGN_API PointGrid {
  Shape shape{};            ///< the number of points along x, y and z; depth 1 in the plane
  Point3 origin{};          ///< the point of the index (0, 0, 0)
  Point3 spacing{1, 1, 1};  ///< the distances between neighbours, above 0
  /// Row by row; its columns are the unit vectors along the grid's axes.
  std::array<double, 9> direction{1, 0, 0, 0, 1, 0, 0, 0, 1};

  /// The affine matrix that maps indices to points.
  [[nodiscard]] HomogeneousMatrix index_to_point() const noexcept;
  friend WARPALIGN_API bool operator==(const PointGrid& a, const PointGrid& b) noexcept;
};

/// What a Transform consists of. A product of matrices has the later of their kinds.
enum class TransformKind {
  translation,   ///< p -> p + t
  rigid,         ///< rotation and translation
  similarity,    ///< rotation, uniform scale and translation
  affine,        ///< a linear map and a translation
  homography,    ///< a projective map
  displacement,  ///< p -> p + u(p), with samples of u on a grid
  bspline,       ///< p -> p + u(p), with u given by cubic B-spline coefficients on a grid
  inverse,       ///< of a displacement, bspline or thin_plate, which each evaluation solves for
  chain,         ///< transforms that are applied one after the other
  thin_plate     ///< the thin-plate spline through pairs of points
};

/// The coordinates that a transform maps.
enum class Coordinates {
  pixels,  ///< from pixels of the reference to pixels of the moving image
  world    ///< millimetres: x to the patient's left, y to the back, z to the head, as ITK and DICOM
};

/// How to interpolate a displacement field between its samples.
enum class FieldInterpolation {
  linear,  ///< between the 4 or 8 nearest samples
  cubic    ///< the cubic B-spline through the samples, mirrored at the edges
};

/// The displacement outside of the grid of a field. Samples are given up to the outermost points of
/// the grid; B-spline coefficients define the field up to the outermost points but one.
enum class OutsideField {
  edge,  ///< that of the nearest point of the edge
  zero,  ///< none: the point is mapped to itself
  nan    ///< undefined: the point is mapped to NaN
};

/// Where the coordinates of points lie in memory: coordinate a (0: x) of point i is
/// `first[i * point + a * axis]`.
struct PointStrides {
  std::ptrdiff_t point = 0;
  std::ptrdiff_t axis = 1;
};

/// A transform of the plane or of space, which maps points of the reference to points of the moving
/// image: warping the moving image with it lays that image on the reference. A Transform is
/// immutable. Copies share its data, and any number of threads may use them. Computations are in
/// double precision on the host, by all of its processors. Functions whose comment names no error
/// never throw Error.
class WARPALIGN_API Transform {
 public:
  /// The identity of the plane.
  Transform();
  /// Copies share the data, which no transform changes.
  Transform(const Transform&);
  Transform(Transform&&) noexcept;
  /// The same for assignment.
  Transform& operator=(const Transform&);
  Transform& operator=(Transform&&) noexcept;
  ~Transform();

  /// A translation, rigid, similarity, affine transform or homography of `dimensions` (2 or 3)
  /// dimensions. Throws Error(invalid_argument) for a matrix that is not finite, is not of this
  /// kind (up to 1e-6), or in two dimensions changes z.
  [[nodiscard]] static Transform of_matrix(TransformKind kind, int dimensions,
                                           const HomogeneousMatrix& matrix,
                                           Coordinates coordinates = Coordinates::pixels);
  /// A translation of the plane. Throws Error(invalid_argument) unless it is finite.
  [[nodiscard]] static Transform translation(const Point& shift);
  /// A translation in space. Throws Error(invalid_argument) unless it is finite.
  [[nodiscard]] static Transform translation(const Point3& shift);
  /// An affine transform of the plane. Throws Error(invalid_argument) unless it is finite.
  [[nodiscard]] static Transform affine(const Affine& plane);
  /// A homography of the plane. Throws Error(invalid_argument) unless it is finite.
  [[nodiscard]] static Transform homography(const Homography& plane);

  /// p -> p + u(p) for a field u that is sampled on a grid. `components` has a pointer for x, y
  /// and, in three dimensions, z: to the displacements along this axis, of the shape of the grid,
  /// x fastest. They are copied. Throws Error(invalid_argument) unless there are 2 or 3
  /// components of finite numbers, and for an invalid grid.
  [[nodiscard]] static Transform displacement(
      const PointGrid& grid, std::span<const float* const> components,
      FieldInterpolation interpolation = FieldInterpolation::linear,
      Coordinates coordinates = Coordinates::pixels);
  [[nodiscard]] static Transform displacement(
      const PointGrid& grid, std::span<const double* const> components,
      FieldInterpolation interpolation = FieldInterpolation::linear,
      Coordinates coordinates = Coordinates::pixels);
  /// The same for coefficients of a uniform cubic B-spline, of the grid's shape, at least 4 along
  /// each axis: u(p) is the sum over the grid of coefficient times B3(x - i) B3(y - j) B3(z - k) at
  /// the index (x, y, z) of p. Throws as displacement() does.
  [[nodiscard]] static Transform bspline(const PointGrid& grid,
                                         std::span<const float* const> coefficients,
                                         Coordinates coordinates = Coordinates::pixels);
  [[nodiscard]] static Transform bspline(const PointGrid& grid,
                                         std::span<const double* const> coefficients,
                                         Coordinates coordinates = Coordinates::pixels);

  /// The thin-plate spline that maps each point of `reference`, rows of `dimensions` coordinates,
  /// to that of `moving`: an affine transform plus the sum of weight times r^2 log r in the plane,
  /// or r in space, over the distances r from the points (Bookstein 1989). Throws
  /// Error(invalid_argument) unless both have the same number of finite coordinates, 3 to 2000
  /// points in the plane or 4 to 2000 in space, and if two points of the reference are the same or
  /// all lie on a line or plane.
  [[nodiscard]] static Transform thin_plate(int dimensions, std::span<const double> reference,
                                            std::span<const double> moving,
                                            Coordinates coordinates = Coordinates::pixels);

  /// 2 or 3.
  [[nodiscard]] int dimensions() const noexcept;
  /// What the transform consists of.
  [[nodiscard]] TransformKind kind() const noexcept;
  /// What the transform maps.
  [[nodiscard]] Coordinates coordinates() const noexcept;
  /// The matrix, if the transform is one; nothing for fields and for chains with fields.
  [[nodiscard]] std::optional<HomogeneousMatrix> matrix() const;
  /// The grid of a displacement or bspline; nothing for other kinds.
  [[nodiscard]] std::optional<PointGrid> grid() const;
  /// The interpolation of a displacement; cubic for a bspline; nothing for other kinds.
  [[nodiscard]] std::optional<FieldInterpolation> interpolation() const noexcept;
  /// The type of the samples or coefficients, f32 or f64; nothing for kinds without.
  [[nodiscard]] std::optional<PixelType> sample_type() const noexcept;
  /// Copies the samples of a displacement or the coefficients of a bspline to `components`, in the
  /// layout of the function that made it. Throws Error(invalid_argument) for other kinds, and
  /// unless there is a pointer for each dimension.
  void copy_samples(std::span<double* const> components) const;
  /// The points of a thin-plate spline, the reference's and then the moving image's: rows of
  /// dimensions() coordinates, as thin_plate() took them. Empty for other kinds.
  [[nodiscard]] std::array<std::vector<double>, 2> landmarks() const;
  /// The transforms of a chain, in the order of their application; of other kinds, the transform
  /// itself.
  [[nodiscard]] std::vector<Transform> members() const;

  /// Maps a point of the plane. A transform in space maps (x, y, 0).
  [[nodiscard]] Point operator()(const Point& point) const;
  /// Maps a point in space. A transform of the plane keeps z.
  [[nodiscard]] Point3 operator()(const Point3& point) const;
  /// Maps points: rows of (x, y) or (x, y, z), one after the other. `to` may be `from`. Throws
  /// Error(invalid_argument) unless both have the same number of coordinates, a multiple of
  /// dimensions(). A point that an inverse does not converge for is mapped to NaN.
  void points(std::span<const double> from, std::span<double> to,
              OutsideField outside = OutsideField::edge) const;
  /// The same for `count` points in rows of any strides. Never throws Error.
  void points(const double* from, const PointStrides& from_strides, double* to,
              const PointStrides& to_strides, std::size_t count,
              OutsideField outside = OutsideField::edge) const;

  /// The displacements T(p) - p at the points of a grid, in the layout of displacement(). Throws
  /// Error(invalid_argument) unless there is a pointer for each dimension, and for an invalid grid.
  void field(const PointGrid& grid, std::span<float* const> components,
             OutsideField outside = OutsideField::edge) const;
  void field(const PointGrid& grid, std::span<double* const> components,
             OutsideField outside = OutsideField::edge) const;
  /// The mapped points T(p) themselves, in the same layout: an array of the grid's shape for each
  /// axis. Throws as field() does.
  void positions(const PointGrid& grid, std::span<float* const> components,
                 OutsideField outside = OutsideField::edge) const;
  void positions(const PointGrid& grid, std::span<double* const> components,
                 OutsideField outside = OutsideField::edge) const;
  /// The determinants of the Jacobian matrix at the points of a grid, x fastest: the factor by
  /// which the transform changes areas or volumes, 0 or less where it folds. At samples of a
  /// linearly interpolated field, its derivatives are central differences, one-sided at the edges.
  /// Throws as field() does, and unless `determinants` has an element for each point.
  void jacobian(const PointGrid& grid, std::span<double> determinants) const;

  /// Composes two transforms: `(this * other)(p)` is `this(other(p))`. Throws
  /// Error(invalid_argument) for transforms of different dimensions or coordinates.
  [[nodiscard]] Transform operator*(const Transform& other) const;
  /// The inverse. That of a matrix is exact. That of a field is solved for at each point that it
  /// maps, by Newton's method with step halving, as is that of a thin-plate spline. Throws
  /// Error(invalid_argument) for a singular matrix, and for a field or spline that folds, with a
  /// point where it does: fields are checked in all cells of their grid, thin-plate splines at
  /// points in the box around their points of the reference.
  [[nodiscard]] Transform inverse() const;
  /// The same transform for pixels or for world coordinates, for images whose pixels are the points
  /// of these grids. A transform of such coordinates is returned unchanged. Throws
  /// Error(invalid_argument) for a grid that is invalid, singular or of other dimensions.
  [[nodiscard]] Transform in_coordinates(Coordinates coordinates, const PointGrid& reference,
                                         const PointGrid& moving) const;
  /// For an inverse of a field or thin-plate spline, or a chain with some: the largest distance
  /// between T(T^-1(p)) and p over a sample of up to 32768 points p = T(q), q of the field's grid
  /// or of the box around the spline's points. 0 for other kinds.
  [[nodiscard]] double inverse_residual() const noexcept;

  /// Whether both have the same kind and coordinates, and exactly the same numbers.
  friend WARPALIGN_API bool operator==(const Transform& a, const Transform& b);

 private:
  explicit Transform(std::shared_ptr<const detail::TransformState> state) noexcept;
  std::shared_ptr<const detail::TransformState> state_;
  friend struct detail::TransformState;
};

}  // namespace warpalign
