// Registration of volumes: the transform between a reference and a moving volume.
#pragma once

#include <warpalign/deformation.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/registrar.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace warpalign {

/// Options of a volume registration.
struct VolumeRegistrationOptions {
  /// The largest translation to search along each axis, in voxels; 0: unlimited.
  Point3 max_shift;
  /// Refine the result at full resolution. Otherwise translations are in whole voxels, and other
  /// motions have the precision of a pyramid level of up to 64 voxels along a side.
  bool refine = true;
  bool collect_timings = false;  ///< fill VolumeRegistration::timings (device time; slower)
  /// translation, rigid, similarity, affine or deformable. The last three begin with a rigid
  /// search, so they find scales of about 0.8 to 1.25. deformable: an affine transform, followed by
  /// a smooth deformation: VolumeRegistration::deformation. Other results describe the affine
  /// transform.
  Motion motion = Motion::translation;
  /// The largest rotation to search, in degrees, above 0 to 180. Must keep its default for
  /// Motion::translation.
  double max_rotation = 180;
  /// The distances from voxel to voxel along x, y and z, in millimetres or any other unit that is
  /// the same for both volumes. Rotations are rigid in these units.
  Point3 reference_spacing{1, 1, 1};
  Point3 moving_spacing{1, 1, 1};  ///< the spacing of the moving volume, in the same unit
  /// same: compare intensities. other: compare edge strengths, for contrast that may be reversed or
  /// unrelated, as between MRI weightings or CT and MRI. automatic: compare intensities, then edge
  /// strengths if the first result is not reliable, and return the result with the higher
  /// confidence; takes twice the memory.
  Modality modality = Modality::same;
  /// For Motion::deformable: the distance between control points of the B-spline, in the unit of
  /// the spacings; at least 2 voxels of the reference along the axis with the smallest spacing, and
  /// at most its longest side. Along other axes, it is at least 2 voxels. Empty: 5 voxels along the
  /// axis with the smallest spacing, or 2 (RegistrationOptions::grid_spacing).
  std::optional<double> grid_spacing{};
  /// For Motion::deformable, as RegistrationOptions::bending_weight.
  double bending_weight = RegistrationOptions{}.bending_weight;
};

/// The transform between two volumes, and whether it is reliable.
struct VolumeRegistration {
  /// In voxels: the content of the reference's centre voxel c is at c + translation in the moving
  /// volume. With Motion::translation and equal spacings this holds for every voxel.
  Point3 translation;
  /// 0 to 1, calibrated on related and unrelated pairs; see docs/registration-confidence.md.
  double confidence = 0;
  bool reliable = false;  ///< whether `confidence` is at least 0.5
  /// The normalised correlation of the volumes over their overlap, both smoothed by the cubic
  /// B-spline; with Modality::other, the correlation of their edge strengths.
  double correlation = 0;
  /// atanh(correlation) sqrt(independent voxels in the overlap).
  double significance = 0;
  /// The fraction of the reference that the moving volume covers, 0 to 1; with masks, the fraction
  /// of the voxels that are not masked.
  double overlap = 0;
  bool refined = false;                 ///< whether the refinement converged
  std::vector<StageTiming> timings;     ///< in order of first use; empty unless requested
  Motion motion = Motion::translation;  ///< the motion of the options
  /// Affine: from reference voxel coordinates to moving voxel coordinates.
  HomogeneousMatrix matrix;
  /// The rotation angle from the reference to the moving volume in physical coordinates (voxel
  /// coordinates times spacing), 0 to 180 degrees. For an affine transform, the angle of the
  /// nearest rotation.
  double rotation_deg = 0;
  /// The axis of the rotation, a unit vector by the right-hand rule of (x, y, z); zero if the angle
  /// is zero.
  Point3 rotation_axis;
  /// Physical length in the moving volume divided by the same length in the reference; for an
  /// affine transform, the cube root of its determinant in physical coordinates.
  double scale = 1;
  MissingPixels missing;  ///< the voxels that were ignored because they are NaN or infinite
  /// same: from intensities; other: from edge strengths; never automatic.
  Modality modality = Modality::same;
  /// With Motion::deformable, the transform of a reliable result; empty if the result is not
  /// reliable.
  std::optional<Deformation> deformation;
};

/// Finds the transform between a reference and moving volumes (docs/registration-volumes.md).
///
/// Translations: phase correlation (Kuglin & Hines 1975) by three-dimensional FFT, evaluation of
/// every peak's wrapped positions by the normalised correlation over their true overlap, then
/// Gauss-Newton refinement (Lucas & Kanade 1981) on the cubic B-spline. Shifts may exceed half a
/// side, if the volumes overlap in at least 4 % of the smaller one (of its voxels that are not
/// masked).
///
/// Other motions: rotations from the magnitudes of low-resolution spectra over a grid of
/// orientations (Alexa 2022), shifts by phase correlation for the best of them, then Gauss-Newton
/// steps on the cubic B-spline from coarse to fine. The search finds shifts of up to about half the
/// largest extent.
///
/// The result does not depend on a gain and an offset between the volumes. With Modality::other the
/// gain may be negative, and intensities may be related in any way that preserves the edges. The
/// registrar keeps plans, scratch memory and data of the reference between calls.
///
/// Volumes may differ in size and type (any but c32). Each side must be 8 to 16384 voxels.
///
/// Every call may throw Error(build_failed) if a kernel does not compile, and
/// Error(device_failure).
class WARPALIGN_API VolumeRegistrar {
 public:
  /// Creates the plans that do not depend on the volumes. Throws Error(invalid_argument) for a
  /// negative or infinite `max_shift`, for an unsupported motion, `max_rotation` or modality, for
  /// spacings that are not positive, finite and within a factor of 1000 of each other, and for a
  /// `grid_spacing` or `bending_weight` that is out of range, or given for another motion.
  explicit VolumeRegistrar(const Device& device, const VolumeRegistrationOptions& options = {});
  VolumeRegistrar(VolumeRegistrar&&) noexcept;
  VolumeRegistrar& operator=(VolumeRegistrar&&) noexcept;
  ~VolumeRegistrar();

  /// Sets the reference and copies what it needs, so the caller may free the voxels. Throws
  /// Error(invalid_argument) for a wrong type, size or device, or if the grid spacing exceeds its
  /// longest side, Error(out_of_memory) if the device
  /// has too little memory for such volumes, and Error(invalid_image) if the volume is constant,
  /// contains NaN or infinities, or with Modality::other has no edges. After an error the registrar
  /// has no reference.
  void set_reference(const HostVolume& reference);
  void set_reference(const Image& reference);
  /// `mask`: u8, of the reference's shape, 0 where a voxel is ignored (such a voxel may have any
  /// value, even NaN). The registrar also ignores values that smoothing mixes with such a voxel,
  /// and edges next to it. Also throws Error(invalid_image) if the mask leaves fewer than 512
  /// voxels.
  void set_reference(const HostVolume& reference, const HostVolume& mask);
  void set_reference(const Image& reference, const Image& mask);

  /// Makes all later calls of align() look for the answer near an affine transform from reference
  /// to moving voxel coordinates: a former result, or a rough estimate. If a fit that starts from
  /// it gives a reliable result, that is the answer. Otherwise the registrar searches as without
  /// it.
  ///
  /// With Motion::deformable and Modality::same, the initial transform is taken as it is: only the
  /// deformation is searched for, and judged by the correlation that it reaches.
  ///
  /// Throws Error(invalid_argument) if the transform is singular, not finite, not affine, or
  /// mirrors the volume. align() throws it if the transform maps no voxel of the reference into the
  /// moving volume, or if the options exclude it.
  void set_initial(const HomogeneousMatrix& initial);
  /// Makes later calls of align() search without an initial transform again.
  void clear_initial() noexcept;

  /// Finds the transform from the reference to `moving`. Throws as set_reference does, and
  /// Error(invalid_argument) if no reference is set. An unreliable result is not an error: check
  /// VolumeRegistration::reliable.
  [[nodiscard]] VolumeRegistration align(const HostVolume& moving);
  [[nodiscard]] VolumeRegistration align(const Image& moving);
  /// `mask`: u8, of the moving volume's shape, 0 where a voxel is ignored.
  [[nodiscard]] VolumeRegistration align(const HostVolume& moving, const HostVolume& mask);
  [[nodiscard]] VolumeRegistration align(const Image& moving, const Image& mask);

  /// As Registrar::wait_for().
  void wait_for(const Event& event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Registers a single pair: calls set_reference and align on a new VolumeRegistrar, and throws as
/// they do.
[[nodiscard]] WARPALIGN_API VolumeRegistration
register_volumes(const Device& device, const HostVolume& reference, const HostVolume& moving,
                 const VolumeRegistrationOptions& options = {});

}  // namespace warpalign
