// The pixels of one image of a pair on the device, and the mean of their gradient.
#pragma once

#include "device/readback.hpp"
#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>

#include <optional>

namespace warpalign::detail {

/// The plans and memory for images of one type and shape.
class Source {
 public:
  Source(const Device& device, PixelType type, const Shape& shape);

  [[nodiscard]] bool fits(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }

  /// Copies an image here and enqueues the statistics of its gradient. When they have been waited
  /// for, the image may change.
  void keep(Stream& stream, StageClock& clock, const HostImage& pixels);
  void keep(Stream& stream, StageClock& clock, const Image& pixels);
  /// What was kept last.
  [[nodiscard]] const Image& kept() const { return *pixels_; }

  /// The same, but the image stays where it is if it is on the device.
  const Image& see(Stream& stream, StageClock& clock, const HostImage& pixels);
  const Image& see(Stream& stream, StageClock& clock, const Image& pixels);

  [[nodiscard]] const Buffer& statistics() const { return statistics_; }

  /// Waits for the statistics; throws Error(invalid_image) when the image cannot be registered.
  /// `what` names it in the message.
  void require_usable(const char* what);

 private:
  Image& memory();
  void measure(Stream& stream, StageClock& clock, const Image& pixels);

  Device device_;
  PixelType type_;
  Shape shape_;
  StatisticsPlan statistics_plan_;
  std::optional<Image> pixels_;  // only once an image was copied
  Buffer statistics_;
  Readback<StatisticsRecord> measured_;
};

/// Throws Error(invalid_argument) unless the type and shape are what a Registrar takes.
void check_registrable(const char* what, PixelType type, const Shape& shape);

}  // namespace warpalign::detail
