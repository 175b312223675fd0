// Pairs of volumes with exactly known truth: sums of Gaussian blobs, evaluated at shifted
// positions, so that nothing is resampled.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <cstdint>
#include <vector>

namespace test {

struct VolumePairSpec {
  warpalign::Shape reference{32, 32, 32};
  warpalign::Shape moving{32, 32, 32};
  warpalign::Point3 shift;  ///< from reference to moving voxels
  /// sigma of the smallest blobs in voxels; the largest have twice as much
  double blob_sigma = 2;
  double noise = 0;        ///< standard deviation, relative to that of the reference
  bool unrelated = false;  ///< the moving volume has other blobs
  std::uint32_t seed = 1;
};

struct HostPairOfVolumes {
  std::vector<float> reference;
  std::vector<float> moving;
};

/// Both volumes with independent noise. `noise` is relative to the reference's standard deviation.
HostPairOfVolumes with_noise(const std::vector<double>& reference,
                             const std::vector<double>& moving, double noise, std::uint32_t seed);

/// Without noise the values are about 0 to 1. The noise is independent in both volumes.
HostPairOfVolumes draw_pair(const VolumePairSpec& spec);

/// A view of a volume for the registrar.
inline warpalign::HostVolume view_of(const std::vector<float>& voxels,
                                     const warpalign::Shape& shape) {
  return {voxels.data(), warpalign::PixelType::f32, shape};
}

/// The largest absolute difference along any axis.
double distance(const warpalign::Point3& a, const warpalign::Point3& b);

}  // namespace test
