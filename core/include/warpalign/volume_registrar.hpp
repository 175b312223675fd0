// Registration of volumes: the transform between two of them.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/transform.hpp>

#include <memory>
#include <vector>

namespace warpalign {

/// How volumes are registered.
struct VolumeRegistrationOptions {
  /// The largest translation along each axis, in voxels; 0: any. Larger ones are not searched.
  Point3 max_shift;
  /// Refine the result at full resolution. Otherwise translations are in whole voxels, and other
  /// motions as exact as levels of up to 64 voxels along a side make them.
  bool refine = true;
  bool collect_timings = false;  ///< fill VolumeRegistration::timings (device time; slower)
  /// translation, rigid, similarity or affine. The last two begin with a rigid search, so that
  /// scales of about 0.8 to 1.25 are found.
  Motion motion = Motion::translation;
  /// The largest rotation to search, in degrees, above 0 to 180. Translations have none: a limit is
  /// refused.
  double max_rotation = 180;
  /// The distances from voxel to voxel along x, y and z, in millimetres or any other unit that is
  /// the same for both volumes. Rotations are rigid in these units.
  Point3 reference_spacing{1, 1, 1};
  Point3 moving_spacing{1, 1, 1};  ///< likewise
  /// same, or other: contrast may be reversed or unrelated, as between MRI weightings or CT and
  /// MRI. Both volumes are then replaced by the strength of their edges. automatic: grey levels,
  /// and where these are not reliable edges, too; the answer with more confidence counts. Takes
  /// twice the memory.
  Modality modality = Modality::same;
};

/// The transform between two volumes, and whether it can be relied on.
struct VolumeRegistration {
  /// In voxels: the content of the reference's centre voxel c is at c + translation in the moving
  /// volume. With Motion::translation and equal spacings this holds for every voxel.
  Point3 translation;
  /// 0 to 1, calibrated on pairs that show the same content and pairs that do not; see
  /// docs/registration.md.
  double confidence = 0;
  bool reliable = false;  ///< whether `confidence` is at least 0.5
  /// The normalised correlation of the volumes over their overlap, both smoothed by the cubic
  /// B-spline; with Modality::other that of the strengths of their edges.
  double correlation = 0;
  /// atanh(correlation) sqrt(independent voxels in common).
  double significance = 0;
  /// The fraction of the reference in common, 0 to 1; with masks, of its voxels that count.
  double overlap = 0;
  bool refined = false;                 ///< whether the refinement converged
  std::vector<StageTiming> timings;     ///< in order of first use; empty unless requested
  Motion motion = Motion::translation;  ///< as asked for
  Transform matrix;  ///< affine: from reference voxel coordinates to moving voxel coordinates
  /// The angle of the rotation from positions in the reference to positions in the moving volume,
  /// both in millimetres: 0 to 180 degrees. Of an affine transform it is the nearest rotation.
  double rotation_deg = 0;
  /// The axis of the rotation, of length 1, by the right-hand rule of (x, y, z); 0 where the angle
  /// is.
  Point3 rotation_axis;
  /// By which factor lengths in millimetres differ; of an affine transform the cube root of that
  /// of volumes.
  double scale = 1;
  /// What the answer is by: same, or other. automatic chooses.
  Modality modality = Modality::same;
};

/// Finds the transform between a reference and moving volumes (docs/registration.md).
///
/// Translations: phase correlation (Kuglin & Hines 1975) by three-dimensional FFT, evaluation of
/// every peak's wrapped positions by the normalised correlation over their true overlap, then
/// Gauss-Newton refinement (Lucas & Kanade 1981) on the cubic B-spline. Shifts beyond half a side
/// are found, as long as 4 % of the smaller volume is in common; with masks, of its voxels that
/// count.
///
/// Other motions: rotations from the magnitudes of low-resolution spectra over a grid of
/// orientations (Alexa 2022), shifts by phase correlation for the best of them, then Gauss-Newton
/// steps on the cubic B-spline from coarse to fine. The frame of the search reaches shifts of about
/// half the largest extent.
///
/// The result does not depend on a gain and an offset between the volumes; with Modality::other the
/// gain may be negative, and grey levels may be related in any way that keeps the edges. Keeps
/// plans, scratch memory and what it computes of the reference between calls.
///
/// Volumes may differ in size and type (any but c32). Each side must be 8 to 16384 voxels.
///
/// Every call may throw Error(build_failed) where a kernel cannot be compiled, and
/// Error(device_failure).
class WARPALIGN_API VolumeRegistrar {
 public:
  /// Makes what all registrations need. Throws Error(invalid_argument) for a negative or infinite
  /// `max_shift`, for a motion, a `max_rotation` or a modality that is not offered, and for
  /// spacings that are not positive, finite, or within a factor of 1000 of each other.
  explicit VolumeRegistrar(const Device& device, const VolumeRegistrationOptions& options = {});
  VolumeRegistrar(VolumeRegistrar&&) noexcept;
  VolumeRegistrar& operator=(VolumeRegistrar&&) noexcept;
  ~VolumeRegistrar();

  /// Sets the reference; its voxels are not needed afterwards. Throws Error(invalid_argument) for
  /// a wrong type, size or device, Error(out_of_memory) when the device has too little memory for
  /// such volumes, Error(invalid_image) when the volume is constant or holds NaN or infinities, or
  /// with Modality::other has no edges; no reference is set then.
  void set_reference(const HostVolume& reference);
  void set_reference(const Image& reference);
  /// `mask`: u8, of the reference's shape, 0 where a voxel does not count (such a voxel may hold
  /// any value, even NaN). Values that are smoothed with such a voxel, and edges beside it, do not
  /// count either. Throws Error(invalid_image), too, where the mask leaves fewer than 512 voxels
  /// that count.
  void set_reference(const HostVolume& reference, const HostVolume& mask);
  void set_reference(const Image& reference, const Image& mask);

  /// Finds where the reference's voxels are in `moving`. Throws as set_reference does, and
  /// Error(invalid_argument) when no reference is set. An unreliable result is returned, not
  /// thrown.
  [[nodiscard]] VolumeRegistration align(const HostVolume& moving);
  [[nodiscard]] VolumeRegistration align(const Image& moving);
  /// `mask`: u8, of the moving volume's shape, 0 where a voxel does not count.
  [[nodiscard]] VolumeRegistration align(const HostVolume& moving, const HostVolume& mask);
  [[nodiscard]] VolumeRegistration align(const Image& moving, const Image& mask);

  /// As Registrar::wait_for().
  void wait_for(const Event& event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Registers a single pair: set_reference and align on a new VolumeRegistrar. Throws as these do.
[[nodiscard]] WARPALIGN_API VolumeRegistration
register_volumes(const Device& device, const HostVolume& reference, const HostVolume& moving,
                 const VolumeRegistrationOptions& options = {});

}  // namespace warpalign
