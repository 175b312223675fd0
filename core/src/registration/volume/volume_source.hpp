// From voxels to numbers that are ready for a registration.
#pragma once

#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <optional>

namespace warpalign::detail {

/// The plans and memory for volumes of one type and shape, with the last one's values.
class VolumeSource {
 public:
  VolumeSource(const Device& device, PixelType type, const Shape& shape);

  [[nodiscard]] bool fits(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// f32: the voxels less their mean, over their range.
  [[nodiscard]] const Image& values() const { return values_; }
  /// f32: sum_k value(k) beta_3(p - k), the values as coefficients of the cubic B-spline.
  [[nodiscard]] const Image& smoothed() const { return smoothed_; }

  /// Wait; throw Error(invalid_image) when the volume cannot be registered. `what` names it in the
  /// message.
  void take(Stream& stream, StageClock& clock, const HostVolume& voxels, const char* what);
  void take(Stream& stream, StageClock& clock, const Image& voxels, const char* what);

 private:
  Device device_;
  PixelType type_;
  Shape shape_;
  StatisticsPlan statistics_;
  PadVolumePlan level_;
  InterpolatePlan smooth_;
  std::optional<Image> voxels_;  // only once a volume came from the host
  Image values_;
  Image smoothed_;
  Buffer record_;
};

}  // namespace warpalign::detail
