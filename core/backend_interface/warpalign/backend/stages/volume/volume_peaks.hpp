// Stage: the highest peaks of a volume.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class VolumePeaks;
}

struct VolumePeaksSpec {
  Shape surface;  ///< of the f32 volume, which is periodic along every axis
};

/// Limits of the peaks.
struct VolumePeakLimits {
  /// The largest periodic distance from 0 along x, y and z; 0: unlimited.
  std::array<std::int64_t, 3> reach{};
  int count = 8;  ///< maximum number of peaks to return; at least 1
};

struct VolumePeak {
  float value = 0;
  std::int64_t x = 0, y = 0, z = 0;
};

/// Finds the maximum of every brick of 8 x 4 x 4 voxels on the device, and returns the highest of
/// these, best first, without those within two voxels of a higher one. NaN is never a peak.
class WARPALIGN_API VolumePeaksPlan {
 public:
  VolumePeaksPlan(const Device& device, const VolumePeaksSpec& spec);
  /// Waits for the result, which is valid until the next execution.
  [[nodiscard]] std::span<const VolumePeak> execute(Stream& stream, const Image& surface,
                                                    const VolumePeakLimits& limits) const&;
  std::span<const VolumePeak> execute(Stream& stream, const Image& surface,
                                      const VolumePeakLimits& limits) const&& = delete;

 private:
  struct Work;
  Device device_;
  VolumePeaksSpec spec_;
  std::shared_ptr<backend::VolumePeaks> kernel_;
  std::shared_ptr<Work> work_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The peak of a brick: its maximum (-infinity if no voxel is within the limits), and the row-major
/// position of the maximum within a brick of full size. Of equal maxima, the first one.
struct BrickRecord {
  float value = 0;
  std::uint32_t position = 0;
};

/// Bricks are numbered in row-major order; those at the far faces may be smaller.
inline constexpr Shape brick{8, 4, 4};
[[nodiscard]] constexpr Shape bricks_of(const Shape& surface) noexcept {
  return {(surface.width + brick.width - 1) / brick.width,
          (surface.height + brick.height - 1) / brick.height,
          (surface.depth + brick.depth - 1) / brick.depth};
}

class VolumePeaks : public Stage {
 public:
  using Setup = VolumePeaksSpec;

  /// `reach`: as in VolumePeakLimits.
  virtual void enqueue(Queue& queue, const Memory& surface,
                       const std::array<std::int64_t, 3>& reach, Memory& records) = 0;
};

}  // namespace warpalign::backend
