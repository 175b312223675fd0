// Transforms from pairs of points.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/transform.hpp>

#include <span>
#include <vector>

namespace warpalign {

/// What fit_points() fits to pairs of points.
enum class PointModel {
  translation,       ///< a shift
  rigid,             ///< rotation and translation
  similarity,        ///< rotation, uniform scale and translation
  affine,            ///< a linear map and a translation
  homography,        ///< in two dimensions
  thin_plate_spline  ///< through all points: bends as little as a thin plate (Bookstein 1989)
};

/// How fit_points() fits.
struct PointFitOptions {
  PointModel model = PointModel::affine;  ///< what to fit
  /// Whether to find and leave out pairs that do not belong to the others: by least median of
  /// squares (Rousseeuw 1984), and for a thin-plate spline by how far a pair is from the spline
  /// through the others.
  bool robust = true;
  Coordinates coordinates = Coordinates::pixels;  ///< of the points
};

/// A transform that was fitted to pairs of points.
struct PointFit {
  Transform transform;  ///< maps the reference points to the moving ones
  std::vector<double>
      residuals;              ///< for each pair the distance that remains, in units of the points
  std::vector<bool> inliers;  ///< the pairs that were used
};

/// Fits a transform to pairs of points by least squares. `reference` and `moving` are rows of
/// `dimensions` (2 or 3) coordinates. The same input gives the same result. Throws
/// Error(invalid_argument) unless both have the same number of finite coordinates, there are as
/// many pairs as the model needs (1, 2, 2, 3 and 4 in the plane, and 3 for a thin-plate spline; 1,
/// 3, 3 and 4 in space), up to 2000 for a thin-plate spline (500 if robust), and for points that do
/// not determine the model because they are the same, or lie on a line or plane.
[[nodiscard]] WARPALIGN_API PointFit fit_points(int dimensions, std::span<const double> reference,
                                                std::span<const double> moving,
                                                const PointFitOptions& options = {});

}  // namespace warpalign
