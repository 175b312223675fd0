// Stage: the highest peaks of a volume.
#pragma once

#include <warpalign/device.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace warpalign {

namespace backend {
class VolumePeaks;
}

struct VolumePeaksSpec {
  Shape surface;  ///< of the f32 volume, whose axes go round
};

/// Which voxels may be peaks.
struct VolumePeakLimits {
  /// How far from 0, going round, along x, y and z; 0: any distance.
  std::array<std::int64_t, 3> reach{};
  int count = 8;  ///< at most so many peaks are wanted; at least 1
};

struct VolumePeak {
  float value = 0;
  std::int64_t x = 0, y = 0, z = 0;
};

/// The maximum of every brick of 8 x 4 x 4 voxels, found on the device; of these the highest, best
/// first, leaving out what lies within two voxels of a better one. NaN is never a peak.
class WARPALIGN_API VolumePeaksPlan {
 public:
  VolumePeaksPlan(const Device& device, const VolumePeaksSpec& spec);
  /// Waits.
  [[nodiscard]] std::vector<VolumePeak> execute(Stream& stream, const Image& surface,
                                                const VolumePeakLimits& limits) const;

 private:
  Device device_;
  VolumePeaksSpec spec_;
  std::shared_ptr<backend::VolumePeaks> kernel_;
  std::shared_ptr<Buffer> records_;
};

}  // namespace warpalign
