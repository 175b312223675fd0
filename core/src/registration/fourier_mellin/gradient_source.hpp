// The pixels of one image of a pair on the device, and the statistics of their gradient.
#pragma once

#include "device/readback.hpp"
#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>

#include <optional>

namespace warpalign::detail {

/// Plans and memory for images of one type and shape.
class Source {
 public:
  Source(const Device& device, PixelType type, const Shape& shape);

  [[nodiscard]] bool fits(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }

  /// Copies an image and enqueues the statistics of its gradient. Once require_usable() has waited
  /// for them, the caller may change the image.
  void keep(Stream& stream, StageClock& clock, const HostImage& pixels);
  void keep(Stream& stream, StageClock& clock, const Image& pixels);
  /// The copy of the last image that keep() took.
  [[nodiscard]] const Image& kept() const { return *pixels_; }

  /// The same, but an image that is on the device is used in place instead of copied.
  const Image& see(Stream& stream, StageClock& clock, const HostImage& pixels);
  const Image& see(Stream& stream, StageClock& clock, const Image& pixels);

  [[nodiscard]] const Buffer& statistics() const { return statistics_; }

  /// Waits for the statistics. Throws Error(invalid_image) when the image cannot be registered;
  /// `what` names it in the message.
  void require_usable(const char* what);

 private:
  Image& memory();
  void measure(Stream& stream, StageClock& clock, const Image& pixels);

  Device device_;
  PixelType type_;
  Shape shape_;
  StatisticsPlan statistics_plan_;
  std::optional<Image> pixels_;  // allocated when an image is first copied
  Buffer statistics_;
  Readback<StatisticsRecord> measured_;
};

/// Throws Error(invalid_argument) unless a Registrar takes images of this type and shape.
void check_registrable(const char* what, PixelType type, const Shape& shape);

}  // namespace warpalign::detail
