// Converts voxels to the normalized values that are registered.
#pragma once

#include "registration/resources/stage_clock.hpp"
#include "registration/volume/pyramid/volume_pyramid.hpp"
#include "registration/volume/structure/host_volume.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/mark_volume.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/backend/stages/volume/smooth_volume.hpp>
#include <warpalign/backend/stages/volume/volume_edges.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <cstdint>
#include <optional>

namespace warpalign::detail {

/// Plans and memory for volumes of one type and shape, and the values of the last volume: its
/// intensities or, for Modality::other, its edge strengths. In volumes with a mask, masked values
/// are NaN, and so are values computed from masked ones.
class VolumeSource {
 public:
  /// `spacing`: between voxel centres, in any unit. `keeps_overview`: whether overview() is needed.
  VolumeSource(const Device& device, PixelType type, const Shape& shape, Modality modality,
               const Point3& spacing, bool masked, bool keeps_overview);

  [[nodiscard]] bool matches(PixelType type, const Shape& shape, bool masked) const {
    return type == type_ && shape == shape_ && masked == this->masked();
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] bool masked() const { return masking_.has_value(); }
  /// f32: intensities or edge strengths minus their mean, divided by their range.
  [[nodiscard]] const Image& values() const { return values_; }
  /// f32: sum_k value(k) beta_3(p - k), the cubic B-spline whose coefficients are the values.
  [[nodiscard]] const Image& smoothed() const { return smoothed_; }

  /// The number of unmasked voxels of values().
  [[nodiscard]] double valid() const { return valid_; }
  /// The number of unmasked voxels of smoothed().
  [[nodiscard]] double valid_smoothed() const { return valid_smoothed_; }

  /// The intensities of the last volume on the level of its pyramid that has at most 128 voxels a
  /// side, in host memory; masked voxels are NaN. Requires `keeps_overview`. Waits for the device.
  [[nodiscard]] const OverviewVolume& overview(Stream& stream, StageClock& clock);

  /// The number of voxels that are NaN or infinite and not excluded by the mask.
  [[nodiscard]] std::int64_t missing() const { return missing_; }

  /// Sets the mask of the next volume: u8, 0 where a voxel is ignored. Requires masked().
  void set_mask(Stream& stream, StageClock& clock, const HostVolume& mask);
  void set_mask(Stream& stream, StageClock& clock, const Image& mask);
  /// Sets a mask that excludes no voxel. Requires masked().
  void set_whole_mask(Stream& stream, StageClock& clock);
  /// Computes the values; masks missing voxels. Waits for the device. Returns false, without
  /// values, if voxels are missing but there is no mask. Throws Error(invalid_image) if the volume
  /// cannot be registered; `what` is its name in the message.
  [[nodiscard]] bool take(Stream& stream, StageClock& clock, const HostVolume& voxels,
                          const char* what);
  [[nodiscard]] bool take(Stream& stream, StageClock& clock, const Image& voxels, const char* what);

 private:
  struct Masking {
    Image mask;
    MarkVolumePlan mark_mask, mark;
    SmoothVolumePlan smooth;
  };
  struct Edges {
    VolumeEdgesPlan strengths;
    StatisticsPlan statistics;
    PadVolumePlan normalize;
  };

  [[nodiscard]] StatisticsRecord measure_voxels(Stream& stream, StageClock& clock,
                                                const Image& voxels, const char* what);
  void smooth(Stream& stream, StageClock& clock, const char* what);
  void replace_by_edges(Stream& stream, StageClock& clock, const char* what);
  void take_overview(Stream& stream, StageClock& clock);

  Device device_;
  PixelType type_;
  Shape shape_;
  StatisticsPlan statistics_;
  PadVolumePlan normalize_;
  std::optional<InterpolatePlan> smooth_;  // for volumes without a mask
  std::optional<Masking> masking_;
  std::optional<Edges> edges_;   // for Modality::other
  std::optional<Image> voxels_;  // allocated for the first volume from the host
  Image values_;
  Image smoothed_;
  Buffer record_;
  bool keeps_overview_, overview_taken_ = false;
  VolumeGrid grid_;
  std::optional<VolumePyramid> overview_levels_;  // made when an overview is first needed
  OverviewVolume overview_;
  double valid_ = 0, valid_smoothed_ = 0;
  std::int64_t missing_ = 0;
};

}  // namespace warpalign::detail
