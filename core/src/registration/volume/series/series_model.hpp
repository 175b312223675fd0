// The reference of a series of volumes, prepared for fits of small motions on the host.
#pragma once

#include "registration/volume/fitting/motion_model.hpp"
#include "registration/volume/geometry/volume_grid.hpp"

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// How a warped volume compares with the reference, and the next step of the fit.
struct SeriesComparison {
  double correlation = 0;  ///< over the voxels that both volumes have
  double voxels = 0;       ///< their number
  /// The transform after one Gauss-Newton step; empty if there is none.
  std::optional<SpatialTransform> next;
};

/// Fits by inverse composition (Baker & Matthews 2004): the derivatives are those of the reference,
/// so a step needs only the values of the warped volume, and no derivatives of it. They are also
/// instrumental variables (see AffineFit): their noise is independent of the volume's, so noise
/// does not draw the answer towards fractions of a voxel at which interpolation damps it.
class SeriesModel {
 public:
  /// `values`: of the reference, of `grid.shape`, filled where they are missing. `motion`:
  /// translation, rigid, similarity or affine.
  SeriesModel(std::vector<float> values, const VolumeGrid& grid, Motion motion);

  /// The lowest and the highest value.
  [[nodiscard]] float minimum() const { return minimum_; }
  [[nodiscard]] float maximum() const { return maximum_; }
  /// The effective sample size of the volume (Bartlett 1946), from its autocorrelation along each
  /// axis.
  [[nodiscard]] double independent_voxels() const { return independent_; }
  /// The number of voxels that a comparison uses if nothing lies outside the moving volume.
  [[nodiscard]] double inner_voxels() const;
  [[nodiscard]] const VolumeGrid& grid() const { return grid_; }

  /// `warped`: the values of a volume of the same shape at `transform` of every voxel. Ignores
  /// those outside the volume, and those whose `weights` are 0: 1 for all others; empty if all
  /// count.
  [[nodiscard]] SeriesComparison compare(std::span<const float> warped,
                                         const SpatialTransform& transform,
                                         std::span<const float> weights = {}) const;

 private:
  template <bool weighted>
  [[nodiscard]] SeriesComparison compared(std::span<const float> warped,
                                          const SpatialTransform& transform,
                                          std::span<const float> weights) const;
  void set_derivatives();
  void set_independent_voxels();
  void set_normal_matrix();

  VolumeGrid grid_;
  Motion motion_;
  MotionGenerators generators_;
  std::vector<float> values_;     // without their mean
  std::vector<float> x_, y_, z_;  // the smoothed reference's derivatives, per millimetre
  std::vector<double> normal_;    // the matrix of the normal equations, for unit gain
  float mean_ = 0, minimum_ = 0, maximum_ = 0;
  double independent_ = 0;
};

/// The voxels [first, end) of a row of `shape` whose positions by `rows` lie at most `beyond`
/// voxels outside a volume of the same shape.
struct RowRange {
  std::int64_t first = 0, end = 0;
};
[[nodiscard]] RowRange range_inside(const CentredRows& rows, const VolumeGrid& grid, std::int64_t y,
                                    std::int64_t z, double beyond);

}  // namespace warpalign::detail
