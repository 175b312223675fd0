// Stage: displacements that cubic B-spline coefficients on a regular grid define.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <array>
#include <memory>

namespace warpalign {

namespace backend {
class DeformationGrid;
}

/// How voxels lie among the control points along one axis.
struct GridAxis {
  double first = 1;    ///< the index of voxel 0 among the control points: at least 1
  double step = 0.2;   ///< how far the next voxel is, in control points; above 0, at most 1
  double spacing = 5;  ///< the distance of control points in the unit of displacements
};

struct DeformationGridSpec {
  Shape voxels;                  ///< of the reference; depth 1 in the plane
  Shape grid;                    ///< the control points, at least 4 along each axis; depth 1 in the
                                 ///< plane
  std::array<GridAxis, 3> axes;  ///< along x, y and z; z is ignored in the plane
  Shape moving;                  ///< of the moving volume that execute_warp() samples

  [[nodiscard]] int dimensions() const noexcept { return grid.depth > 1 ? 3 : 2; }
  /// The number of different entries of a symmetric matrix: 3 or 6.
  [[nodiscard]] int entries() const noexcept { return grid.depth > 1 ? 6 : 3; }
  /// `count` arrays of the grid, or of the reference, one after the other.
  [[nodiscard]] Shape grids(int count) const noexcept {
    return {grid.width, grid.height, grid.depth * count};
  }
  [[nodiscard]] Shape volumes(int count) const noexcept {
    return {voxels.width, voxels.height, voxels.depth * count};
  }
  [[nodiscard]] Shape extremes() const noexcept { return {3, voxels.height, voxels.depth}; }
};

/// Which voxels count if some are ignored: f32, 1 or 0.
struct DeformationMasks {
  const Image& reference;  ///< of the reference's shape
  const Image& moving;     ///< of the moving volume's shape
};

/// Free-form deformations (Rueckert et al. 1999): the displacement of voxel k along axis a is
/// u_a(k) = sum_i c_a(i) beta_3(t_x - i_x) beta_3(t_y - i_y) beta_3(t_z - i_z) with
/// t = first + step k. All images are f32; components along x, y and z are one after the other.
/// Every control point that a voxel needs must exist.
class WARPALIGN_API DeformationGridPlan {
 public:
  DeformationGridPlan(const Device& device, const DeformationGridSpec& spec);
  /// The displacements of all voxels: from grids(dimensions) to volumes(dimensions).
  void execute_field(Stream& stream, const Image& coefficients, Image& field) const;
  /// The moving volume at M (scale k + u(k)), by linear interpolation, and 1 in the second half of
  /// `samples` (volumes(2)) if this point lies within the moving volume, else 0, where the value is
  /// that of the nearest point within. `pose`: an f32 image of 15 x 1: the first three rows of M,
  /// then `scale` for each axis. With masks, the second half is also 0 where the mask of the
  /// reference is, and where that of the moving volume is at the nearest voxel.
  void execute_warp(Stream& stream, const Image& coefficients, const Image& moving,
                    const Image& pose, Image& samples,
                    const DeformationMasks* masks = nullptr) const;
  /// The transpose of execute_field: sum_k v(k) beta_3(t_x - i_x) beta_3(t_y - i_y) beta_3(t_z -
  /// i_z) for each of `planes` arrays v, 1 to dimensions(), from volumes(planes) to grids(planes).
  /// The order of the sum is fixed.
  void execute_sums(Stream& stream, int planes, const Image& volumes, Image& sums) const;
  /// det(I + du/dx) at all voxels, with x in the unit of the displacements.
  void execute_determinants(Stream& stream, const Image& coefficients, Image& determinants) const;
  /// For each row (y + height z), its least and its greatest determinant, and how many are below
  /// `low` or above `high`: an image of spec.extremes().
  void execute_extremes(Stream& stream, const Image& determinants, float low, float high,
                        Image& extremes) const;
  /// Writes 1 at all control points that reach a voxel whose determinant is below `lowest`, and
  /// leaves the others: an image of spec.grid.
  void execute_marks(Stream& stream, const Image& determinants, float lowest, Image& marks) const;

 private:
  Device device_;
  DeformationGridSpec spec_;
  std::shared_ptr<backend::DeformationGrid> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class DeformationGrid : public Stage {
 public:
  using Setup = DeformationGridSpec;

  virtual void enqueue_field(Queue& queue, const Memory& coefficients, Memory& field) = 0;
  /// The masks are null, or both are not.
  virtual void enqueue_warp(Queue& queue, const Memory& coefficients, const Memory& moving,
                            const Memory& pose, const Memory* reference_mask,
                            const Memory* moving_mask, Memory& samples) = 0;
  virtual void enqueue_sums(Queue& queue, int planes, const Memory& volumes, Memory& sums) = 0;
  virtual void enqueue_determinants(Queue& queue, const Memory& coefficients,
                                    Memory& determinants) = 0;
  virtual void enqueue_extremes(Queue& queue, const Memory& determinants, float low, float high,
                                Memory& extremes) = 0;
  virtual void enqueue_marks(Queue& queue, const Memory& determinants, float lowest,
                             Memory& marks) = 0;
};

}  // namespace warpalign::backend
