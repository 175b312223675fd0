// Converts voxels to values that are ready for a registration.
#pragma once

#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/backend/stages/volume/volume_edges.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <optional>

namespace warpalign::detail {

/// Plans and memory for volumes of one type and shape, and the values of the last volume: its grey
/// levels or, for Modality::other, the strength of its edges.
class VolumeSource {
 public:
  /// `spacing`: from voxel to voxel, in any unit.
  VolumeSource(const Device& device, PixelType type, const Shape& shape, Modality modality,
               const Point3& spacing);

  [[nodiscard]] bool matches(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// f32: grey levels or strengths minus their mean, divided by their range.
  [[nodiscard]] const Image& values() const { return values_; }
  /// f32: sum_k value(k) beta_3(p - k), the cubic B-spline with the values as coefficients.
  [[nodiscard]] const Image& smoothed() const { return smoothed_; }

  /// Computes the values. Waits for the device. Throws Error(invalid_image) when the volume cannot
  /// be registered; `what` names it in the message.
  void take(Stream& stream, StageClock& clock, const HostVolume& voxels, const char* what);
  void take(Stream& stream, StageClock& clock, const Image& voxels, const char* what);

 private:
  struct Edges {
    VolumeEdgesPlan strengths;
    StatisticsPlan statistics;
    PadVolumePlan normalize;
  };

  [[nodiscard]] StatisticsRecord measure(Stream& stream, StageClock& clock,
                                         const StatisticsPlan& statistics, const Image& image);
  void smooth(Stream& stream, StageClock& clock);
  void replace_by_edges(Stream& stream, StageClock& clock, const char* what);

  Device device_;
  PixelType type_;
  Shape shape_;
  StatisticsPlan statistics_;
  PadVolumePlan normalize_;
  InterpolatePlan smooth_;
  std::optional<Edges> edges_;   // for Modality::other
  std::optional<Image> voxels_;  // allocated when a volume first comes from the host
  Image values_;
  Image smoothed_;
  Buffer record_;
};

}  // namespace warpalign::detail
