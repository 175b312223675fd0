// The intensities of an image that a deformation is fitted to.
#pragma once

#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <optional>

namespace warpalign::detail {

/// Throws Error(invalid_image) if samples of an image or a volume are missing, which a deformation
/// cannot ignore. `what` names it in the message; `samples`: "pixels" or "voxels".
void check_complete(const char* what, std::int64_t missing, const char* samples);

/// Converts an image (u8, u16 or f32) to f32: minus its mean, divided by its range. Reuses its
/// memory for images of the same type and shape.
class DeformationSource {
 public:
  explicit DeformationSource(const Device& device) : device_(device) {}

  /// The image must have been checked: finite, and not constant. Waits for the device.
  void take(Stream& stream, StageClock& clock, const HostImage& pixels);
  void take(Stream& stream, StageClock& clock, const Image& pixels);
  [[nodiscard]] const Image& values() const { return plans_->values; }

 private:
  struct Plans {
    Plans(const Device& device, PixelType pixel, const Shape& size);
    PixelType type;
    Shape shape;
    StatisticsPlan statistics;
    PadVolumePlan normalize;
    Buffer record;
    Image values;
    std::optional<Image> raw;  // of images from the host
  };
  void prepare(PixelType type, const Shape& shape);

  Device device_;
  std::optional<Plans> plans_;
};

}  // namespace warpalign::detail
