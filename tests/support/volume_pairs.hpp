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
  double blob_sigma = 2;    ///< voxels, of the smallest blobs; the largest have twice as much
  double noise = 0;         ///< standard deviation, relative to that of the reference
  bool unrelated = false;   ///< the moving volume has other blobs
  std::uint32_t seed = 1;
};

struct HostPairOfVolumes {
  std::vector<float> reference;
  std::vector<float> moving;
};

/// Both volumes with noise, independent in each; `noise` is relative to the reference's deviation.
HostPairOfVolumes with_noise(const std::vector<double>& reference,
                             const std::vector<double>& moving, double noise, std::uint32_t seed);

/// Values about 0 to 1 without noise. Noise is independent in both.
HostPairOfVolumes draw_pair(const VolumePairSpec& spec);

/// A view of a volume for the registrar.
inline warpalign::HostVolume view_of(const std::vector<float>& voxels,
                                     const warpalign::Shape& shape) {
  return {voxels.data(), warpalign::PixelType::f32, shape};
}

/// The largest difference along an axis.
double distance(const warpalign::Point3& a, const warpalign::Point3& b);

}  // namespace test
