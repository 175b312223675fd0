// The intensities of an image that a deformation is fitted to.
#pragma once

#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/device.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Which pixels of an image are known, 1 or 0; empty if all are.
using KnownPixels = std::span<const float>;

/// Converts an image or volume (u8, u16 or f32) to f32: minus its mean, divided by its range.
/// Reuses its memory for images of the same type and shape.
class DeformationSource {
 public:
  explicit DeformationSource(const Device& device) : device_(device) {}

  /// The image must have been checked: not constant, and with known pixels. `mask`: u8, 0 for
  /// pixels that are ignored, as are those that are not finite if `missing`; null without a mask.
  /// Ignored pixels are filled from their surroundings. Waits for the device.
  template <class Pixels, class Mask>
  void take(Stream& stream, StageClock& clock, const Pixels& pixels, const Mask* mask,
            bool missing) {
    const Image& image = on_device(stream, clock, pixels, raw_);
    if (mask == nullptr && !missing) return take_complete(stream, clock, image);
    take_incomplete(stream, image,
                    mask != nullptr ? &on_device(stream, clock, *mask, raw_mask_) : nullptr);
  }
  /// Takes values that are prepared already, f32, with NaN for pixels that are ignored.
  void take_values(Stream& stream, const Image& values);

  [[nodiscard]] const Image& values() const { return *values_; }
  [[nodiscard]] KnownPixels known() const { return known_; }

 private:
  struct Plans {
    Plans(const Device& device, PixelType pixel, const Shape& size);
    PixelType type;
    Shape shape;
    StatisticsPlan statistics;
    PadVolumePlan normalize;
    Buffer record;
  };
  const Image& on_device(Stream& stream, StageClock& clock, const HostImage& pixels,
                         std::optional<Image>& copy) const;
  const Image& on_device(Stream& stream, StageClock& clock, const HostVolume& voxels,
                         std::optional<Image>& copy) const;
  static const Image& on_device(Stream& stream, StageClock& clock, const Image& pixels,
                                std::optional<Image>& copy);
  void prepare_copy(PixelType type, const Shape& shape, std::optional<Image>& copy) const;
  void take_complete(Stream& stream, StageClock& clock, const Image& pixels);
  void take_incomplete(Stream& stream, const Image& pixels, const Image* mask);
  void fill(Stream& stream, std::vector<float>& values, const Shape& shape);
  void prepare_values(const Shape& shape);

  Device device_;
  std::optional<Plans> plans_;
  std::optional<Image> raw_, raw_mask_;  // of images from the host
  std::optional<Image> values_;
  std::vector<float> known_;
};

}  // namespace warpalign::detail
