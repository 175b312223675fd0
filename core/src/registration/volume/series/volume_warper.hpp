// Warps the volumes of a series on the device.
#pragma once

#include "registration/volume/geometry/volume_grid.hpp"
#include "registration/volume/series/missing_voxels.hpp"
#include "registration/volume/series/voxel_places.hpp"

#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/transform.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// The cubic spline of one volume at a time, evaluated where a transform leads the voxels of the
/// reference, which has the same shape. Keeps plans and memory.
class VolumeWarper {
 public:
  /// `stream` must outlive this.
  VolumeWarper(const Device& device, Stream& stream, const Shape& shape);

  /// Computes the coefficients of a volume, whose missing voxels are filled. Throws
  /// Error(invalid_image) if all are missing.
  void load(const HostVolume& volume);
  /// Of the loaded volume; null if none is missing.
  [[nodiscard]] const MissingVoxels* missing() const { return missing_ ? &*missing_ : nullptr; }

  /// The loaded volume as f32 at the transformed voxels, until the next call.
  [[nodiscard]] const std::vector<float>& values_at(const HomogeneousMatrix& transform);
  /// The voxels of the loaded volume as f32 on the device, until the next call.
  [[nodiscard]] const Image& values_on_device();

  /// Writes the loaded volume, warped, in its type. Voxels more than one voxel outside the volume
  /// are 0, and those with too few known neighbours are NaN.
  void write(const SpatialTransform& transform, const VolumeGrid& grid, void* aligned);
  void write(const Transform& transform, void* aligned);

 private:
  /// Device memory and plans for volumes of one type.
  struct Typed {
    Typed(const Device& device, PixelType pixel, const Shape& shape);
    PixelType type;
    Image samples, warped;
    PrefilterPlan prefilter;
    InterpolatePlan interpolate;
  };
  Typed& plans_for(PixelType type);
  void clear_beyond(const SpatialTransform& transform, const VolumeGrid& grid, void* aligned) const;
  void clear_beyond(const VoxelPlaces& places, void* aligned) const;

  Device device_;
  Stream& stream_;
  Shape shape_;
  std::optional<Typed> typed_;
  std::optional<VoxelPlaces> places_;  ///< of transforms that are no matrices
  Image coefficients_, warped_;
  InterpolatePlan to_floats_;
  std::vector<float> values_;
  std::optional<MissingVoxels> missing_;
};

}  // namespace warpalign::detail
