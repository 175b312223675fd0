// The motion of the volumes of a series, in the terms of functional MRI.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/volume_registrar.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace warpalign::program {

/// The six parameters of a rigid motion, in the unit of the world and in degrees. A point of the
/// head that is at p in the reference is at R (p - c) + c + t in the volume, where c is the centre
/// of the reference, t the translation, and R = Rz Ry Rx the rotations about the axes z, y and x by
/// the right-hand rule.
struct RigidParameters {
  std::array<double, 3> translation{};
  std::array<double, 3> rotation_deg{};
};

/// Sets the rotation of a result of which only the matrix is known, in physical coordinates: voxel
/// coordinates times `spacing`. For an affine transform, that of the nearest rotation.
void set_rotation(VolumeRegistration& found, const Point3& spacing);

/// `found`: from reference voxels to voxels of the volume. `index_to_world`: of both. For an affine
/// transform, the rotation is the nearest one.
[[nodiscard]] RigidParameters rigid_parameters(const VolumeRegistration& found,
                                               const HomogeneousMatrix& index_to_world,
                                               const Shape& shape);

/// The sum of the absolute changes of the six parameters, with rotations as lengths on a sphere of
/// `radius` (Power et al. 2012).
[[nodiscard]] double framewise_displacement(const RigidParameters& before,
                                            const RigidParameters& after, double radius);

/// A volume of a series in the reports.
struct SeriesRow {
  std::size_t index = 0;
  std::string name;
  std::string status;  ///< "ok", "unreliable" or "failed"
  std::string reason;  ///< why it failed; else empty
  VolumeRegistration found;
  std::optional<RigidParameters> parameters;  ///< of a volume that is ok
  std::optional<double> displacement;         ///< framewise displacement since the volume before
  std::optional<double> dvars;                ///< in intensities, since the volume before
};

}  // namespace warpalign::program
