// Converts voxels to values that are ready for a registration.
#pragma once

#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <optional>

namespace warpalign::detail {

/// Plans and memory for volumes of one type and shape, and the values of the last volume.
class VolumeSource {
 public:
  VolumeSource(const Device& device, PixelType type, const Shape& shape);

  [[nodiscard]] bool matches(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// f32: the voxels minus their mean, divided by their range.
  [[nodiscard]] const Image& values() const { return values_; }
  /// f32: sum_k value(k) beta_3(p - k), the cubic B-spline with the values as coefficients.
  [[nodiscard]] const Image& smoothed() const { return smoothed_; }

  /// Computes the values. Waits for the device. Throws Error(invalid_image) when the volume cannot
  /// be registered; `what` names it in the message.
  void take(Stream& stream, StageClock& clock, const HostVolume& voxels, const char* what);
  void take(Stream& stream, StageClock& clock, const Image& voxels, const char* what);

 private:
  Device device_;
  PixelType type_;
  Shape shape_;
  StatisticsPlan statistics_;
  PadVolumePlan normalize_;
  InterpolatePlan smooth_;
  std::optional<Image> voxels_;  // allocated when a volume first comes from the host
  Image values_;
  Image smoothed_;
  Buffer record_;
};

}  // namespace warpalign::detail
