// Pairs of volumes that are related by an exactly known affine transform. They are sums of
// Gaussian blobs, evaluated in double precision at the position that each voxel shows, so that
// nothing is resampled.
#pragma once

#include "support/volume_pairs.hpp"

#include <warpalign/geometry.hpp>

#include <array>
#include <cstdint>

namespace test {

/// Positions are in millimetres from the centre of each volume.
struct RotatedPairSpec {
  warpalign::Shape reference{32, 32, 32};
  warpalign::Shape moving{32, 32, 32};
  warpalign::Point3 reference_spacing{1, 1, 1};
  warpalign::Point3 moving_spacing{1, 1, 1};
  /// Three rows (a b c d) that map positions in the reference to positions in the moving volume.
  std::array<double, 12> transform{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  /// sigma of the smallest blobs in millimetres; the largest have twice as much
  double blob_sigma = 1.5;
  /// Radius in millimetres of the ball that holds all blobs; 0: blobs are everywhere.
  double object_radius = 0;
  double noise = 0;        ///< standard deviation, relative to that of the reference
  bool unrelated = false;  ///< the moving volume has other blobs
  std::uint32_t seed = 1;
};

HostPairOfVolumes draw_rotated_pair(const RotatedPairSpec& spec);

/// Rows that rotate by `degrees` about an axis (of any length), multiply by a scale and then
/// shift.
std::array<double, 12> turn(const warpalign::Point3& axis, double degrees,
                            const warpalign::Point3& shift = {}, double scale = 1);

/// The largest distance between `matrix`, which maps reference voxels to moving voxels, and the
/// truth, at the reference's corner voxels, in voxels of the moving volume.
double corner_error(const RotatedPairSpec& spec, const std::array<double, 16>& matrix);

}  // namespace test
