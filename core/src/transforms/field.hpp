// Displacements on a grid, and their interpolation.
#pragma once

#include "registration/numerics/small_matrix.hpp"

#include <warpalign/transform.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

namespace warpalign::detail {

/// What the values at the grid's points are.
enum class FieldBasis {
  linear,        ///< samples, interpolated linearly
  interpolated,  ///< samples, interpolated by a cubic B-spline that is mirrored at the edges
  coefficients   ///< of a cubic B-spline
};

/// How the derivatives of a linearly interpolated field are defined between its cells.
enum class CellBoundary {
  mean,     ///< the mean of both cells' derivatives: central differences at the samples
  one_cell  ///< those of the cell that the point is counted to, as the values change within it
};

/// Samples that the caller gave, x, y (and z) of each point together.
using FieldSamples = std::variant<std::vector<float>, std::vector<double>>;

/// A displacement field. In the plane, the third element of points is 0, and the third row and
/// column of Jacobian matrices are those of the identity. Immutable after its construction, so that
/// threads may share it.
class Field {
 public:
  /// Throws Error(invalid_argument) for a wrong grid and for samples that are not finite.
  Field(int dimensions, const PointGrid& grid, FieldBasis basis, FieldSamples samples);

  [[nodiscard]] int dimensions() const { return dimensions_; }
  [[nodiscard]] const PointGrid& grid() const { return grid_; }
  [[nodiscard]] FieldBasis basis() const { return basis_; }
  [[nodiscard]] const FieldSamples& samples() const { return samples_; }

  /// What is interpolated, in the order of the samples: they themselves, or coefficients.
  [[nodiscard]] std::variant<std::span<const float>, std::span<const double>> values() const;
  [[nodiscard]] const HomogeneousMatrix& point_to_index() const { return point_to_index_; }

  /// The index coordinates of a point of the plane or of space. Outside of the grid they are beyond
  /// its first or last index.
  [[nodiscard]] Vector3 index_of(const Vector3& point) const;
  [[nodiscard]] Vector3 point_of(const Vector3& index) const;

  /// Adds to `count` points, given by a pointer to each coordinate, their displacements.
  void displace(std::span<double* const> points, std::size_t count, OutsideField outside) const;
  /// Adds its displacement to a point, and returns the derivatives of the sum by the point.
  [[nodiscard]] Matrix3 displace(Vector3& point, CellBoundary boundary) const;

  /// The first and last index along each axis between which the field is defined.
  [[nodiscard]] const std::array<std::size_t, 3>& first_index() const { return first_; }
  [[nodiscard]] const std::array<std::size_t, 3>& last_index() const { return last_; }
  /// The determinant of the Jacobian in the cell from `index` to the next one, at the given
  /// fractions of the way to the next index, 0 to 1.
  [[nodiscard]] double determinant_in_cell(const std::array<std::size_t, 3>& index,
                                           const Vector3& fractions) const;
  /// An upper bound of the field's derivatives in the cell from `index` to the next one, in units
  /// of the grid's indices: the largest sum, over the axes, of the absolute derivatives of a
  /// component. Below 1 the field cannot fold there.
  [[nodiscard]] double derivative_bound(const std::array<std::size_t, 3>& index) const;

 private:
  template <class Function>
  decltype(auto) with_values(const Function& function) const;

  int dimensions_;
  PointGrid grid_;
  FieldBasis basis_;
  FieldSamples samples_;
  std::vector<double> coefficients_;  // of FieldBasis::interpolated
  HomogeneousMatrix index_to_point_, point_to_index_;
  bool indices_are_points_ = false;
  std::array<std::size_t, 3> extent_{}, first_{}, last_{};
};

/// Throws Error(invalid_argument) unless its extents are 1 to 2^30, and its other numbers are
/// finite and make an invertible matrix that keeps the plane in two dimensions.
void check_grid(int dimensions, const PointGrid& grid);

}  // namespace warpalign::detail
