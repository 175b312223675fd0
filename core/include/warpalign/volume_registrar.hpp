// Registration of volumes: the translation between two of them.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <memory>
#include <vector>

namespace warpalign {

/// How volumes are registered.
struct VolumeRegistrationOptions {
  /// The largest translation along each axis, in voxels; 0: any. Larger ones are not searched.
  Point3 max_shift;
  bool refine = true;            ///< refine the translation, which is in whole voxels otherwise
  bool collect_timings = false;  ///< fill VolumeRegistration::timings (device time; slower)
};

/// The translation between two volumes, and whether it can be relied on.
struct VolumeRegistration {
  /// In voxels: the content of reference voxel p is at p + translation in the moving volume.
  Point3 translation;
  /// 0 to 1, calibrated on pairs that show the same content and pairs that do not; see
  /// docs/registration.md.
  double confidence = 0;
  bool reliable = false;  ///< whether `confidence` is at least 0.5
  /// The normalised correlation of the volumes over their overlap, both smoothed by the cubic
  /// B-spline.
  double correlation = 0;
  /// atanh(correlation) sqrt(independent voxels in common).
  double significance = 0;
  double overlap = 0;                ///< fraction of the reference in common, 0 to 1
  bool refined = false;              ///< whether the refinement converged
  std::vector<StageTiming> timings;  ///< in order of first use; empty unless requested
};

/// Finds the translation between a reference and moving volumes: phase correlation (Kuglin & Hines
/// 1975) by three-dimensional FFT, evaluation of every peak's wrapped positions by the normalised
/// correlation over their true overlap, then Gauss-Newton refinement (Lucas & Kanade 1981) on the
/// cubic B-spline (docs/registration.md). Shifts beyond half a side are found, as long as 4 % of
/// the smaller volume is in common. The result does not depend on a gain and an offset between the
/// volumes. Keeps plans, scratch memory and the reference's spectrum between calls.
///
/// Volumes may differ in size and type (any but c32). Each side must be 8 to 16384 voxels.
///
/// Every call may throw Error(build_failed) where a kernel cannot be compiled, and
/// Error(device_failure).
class WARPALIGN_API VolumeRegistrar {
 public:
  /// Makes what all registrations need. Throws Error(invalid_argument) for a negative or infinite
  /// `max_shift`.
  explicit VolumeRegistrar(const Device& device, const VolumeRegistrationOptions& options = {});
  VolumeRegistrar(VolumeRegistrar&&) noexcept;
  VolumeRegistrar& operator=(VolumeRegistrar&&) noexcept;
  ~VolumeRegistrar();

  /// Sets the reference; its voxels are not needed afterwards. Throws Error(invalid_argument) for
  /// a wrong type, size or device, Error(out_of_memory) when the device has too little memory for
  /// such volumes, Error(invalid_image) when the volume is constant or holds NaN or infinities; no
  /// reference is set then.
  void set_reference(const HostVolume& reference);
  void set_reference(const Image& reference);

  /// Finds where the reference's voxels are in `moving`. Throws as set_reference does, and
  /// Error(invalid_argument) when no reference is set. An unreliable result is returned, not
  /// thrown.
  [[nodiscard]] VolumeRegistration align(const HostVolume& moving);
  [[nodiscard]] VolumeRegistration align(const Image& moving);

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
