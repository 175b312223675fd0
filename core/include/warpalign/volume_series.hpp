// Registration of a series of volumes, such as those of functional MRI, to one reference.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/transform.hpp>
#include <warpalign/volume_registrar.hpp>

#include <memory>
#include <optional>

namespace warpalign {

/// Options of the registration of a series.
struct VolumeSeriesOptions {
  /// translation, rigid, similarity, affine or deformable: an affine transform, followed by a
  /// smooth deformation.
  Motion motion = Motion::rigid;
  /// The distances from voxel to voxel along x, y and z, in millimetres or another unit. Rotations
  /// are rigid in this unit.
  Point3 spacing{1, 1, 1};
  /// For Motion::deformable, as VolumeRegistrationOptions::grid_spacing. Empty: 5 voxels along the
  /// axis with the smallest spacing.
  std::optional<double> grid_spacing{};
  /// For Motion::deformable, as RegistrationOptions::bending_weight.
  double bending_weight = RegistrationOptions{}.bending_weight;
};

/// Registers volumes of one shape to a reference, fast if each has moved little since the one
/// before.
///
/// The fit starts from the transform of the last reliable volume. Gauss-Newton steps by inverse
/// composition (Baker & Matthews 2004) compare the warped volume with the reference at full
/// resolution; gain and offset have no effect. The answer is verified by the correlation that it
/// reaches. If the fit does not converge, or the volume correlates less than those before it,
/// VolumeRegistrar searches for the transform, and the better answer counts. With
/// Motion::deformable, the fit is that of an affine transform, and the deformation of each reliable
/// volume follows from zero.
///
/// Each volume is warped with its exact cubic spline. Memory does not depend on the number of
/// volumes. Voxels that are NaN or infinite are missing: they are not compared, and what is warped
/// from them is NaN.
///
/// Volumes may have any type but c32; each side must be 8 to 16384 voxels. Every call may throw
/// Error(build_failed) if a kernel does not compile, and Error(device_failure).
class WARPALIGN_API VolumeSeriesRegistrar {
 public:
  /// Throws Error(invalid_argument) for an unsupported motion, for spacings that are not positive,
  /// finite and within a factor of 1000 of each other, and for a `grid_spacing` or `bending_weight`
  /// that is out of range, or given for another motion.
  explicit VolumeSeriesRegistrar(const Device& device, const VolumeSeriesOptions& options = {});
  VolumeSeriesRegistrar(VolumeSeriesRegistrar&&) noexcept;
  VolumeSeriesRegistrar& operator=(VolumeSeriesRegistrar&&) noexcept;
  ~VolumeSeriesRegistrar();

  /// Sets the reference, and copies what it needs. The next fit starts from the identity. Throws
  /// Error(invalid_argument) for a wrong type or size, or if the grid spacing exceeds the longest
  /// side, Error(out_of_memory) if the device has too little memory, and Error(invalid_image) if
  /// the volume is constant or has no finite voxel. After an error the registrar has no reference.
  void set_reference(const HostVolume& reference);

  /// Makes the next fit start from a transform from reference to moving voxel coordinates, such as
  /// that of the last volume of an interrupted run. Throws Error(invalid_argument) if it is
  /// singular, not finite, not affine, or mirrors the volume.
  void start_from(const HomogeneousMatrix& transform);

  /// Finds the transform from the reference to `volume`, which must have the reference's shape and
  /// may have another type. If `aligned` is not null, also writes the volume there, warped to the
  /// reference: dense, of the volume's type and shape. Voxels more than one voxel outside the
  /// volume are 0, and those within repeat it mirrored. An unreliable volume is not warped:
  /// `aligned` then is its unchanged copy. Throws as set_reference does, and
  /// Error(invalid_argument) if no reference is set.
  ///
  /// VolumeRegistration::overlap is the fraction of the reference, without a border of two voxels,
  /// that the volume covers; `refined` whether the fit converged. `deformation` has the transform
  /// of a reliable volume with Motion::deformable; the other numbers then are those of the affine
  /// transform. A volume that no affine transform fits reliably may be judged by its deformation,
  /// as VolumeRegistrar does.
  [[nodiscard]] VolumeRegistration align(const HostVolume& volume, void* aligned = nullptr);

  /// Warps another channel of a volume by the transform that align() found for the volume:
  /// `transform` maps reference to moving voxel coordinates. `volume` must have the reference's
  /// shape and may have another type. Writes to `aligned` as align() does for a reliable volume.
  /// Throws Error(invalid_argument) for a wrong type or shape, for a transform that is singular,
  /// not finite, not affine, or mirrors the volume, and if no reference is set; and
  /// Error(invalid_image) if the volume has no finite voxel.
  void warp(const HostVolume& volume, const HomogeneousMatrix& transform, void* aligned);
  /// The same for any transform, such as that of a deformation: it maps voxels of the reference to
  /// voxels of the volume. Throws Error(invalid_argument) for a transform that has not three
  /// dimensions, and otherwise as the function above.
  void warp(const HostVolume& volume, const Transform& transform, void* aligned);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign
