// The thin-plate spline through pairs of points.
#pragma once

#include "registration/numerics/small_matrix.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// p -> A p + t + the sum over the landmarks of weight times U(distance), with U(r) = r^2 log r in
/// the plane and r in space (Bookstein 1989), which takes each landmark to its value. Immutable.
class ThinPlate {
 public:
  /// `landmarks` and `values`: rows of coordinates, finite. Throws Error(invalid_argument) if there
  /// are too few or too many landmarks, or they do not determine the spline.
  ThinPlate(int dimensions, std::span<const double> landmarks, std::span<const double> values);

  [[nodiscard]] int dimensions() const { return dimensions_; }
  [[nodiscard]] const std::vector<double>& landmarks() const { return landmarks_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

  /// Maps a point, and adds up the derivatives if `jacobian` is given.
  void map(Vector3& point, Matrix3* jacobian) const;
  /// For each landmark the distance of its value from the spline through the others.
  [[nodiscard]] std::vector<double> distances_from_others() const;

 private:
  [[nodiscard]] std::vector<double> system() const;
  [[nodiscard]] std::size_t axes() const { return static_cast<std::size_t>(dimensions_); }
  [[nodiscard]] std::size_t count() const { return landmarks_.size() / axes(); }

  int dimensions_;
  std::vector<double> landmarks_, values_;
  Vector3 centre_{};             ///< of the landmarks
  double scale_ = 1;             ///< 1 / the largest distance of a landmark from it
  std::vector<double> centred_;  ///< (landmark - centre) * scale
  std::vector<double> weights_;  ///< of each landmark, of 1, and of each coordinate
};

}  // namespace warpalign::detail
