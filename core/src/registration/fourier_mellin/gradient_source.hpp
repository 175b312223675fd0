// The pixels of one image of a pair on the device, and the statistics of their gradient.
#pragma once

#include "device/readback.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/statistics.hpp>

#include <optional>

namespace warpalign::detail {

/// Plans and memory for images of one type and shape.
class GradientSource {
 public:
  GradientSource(const Device& device, PixelType type, const Shape& shape);

  [[nodiscard]] bool matches(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }

  /// Copies an image and enqueues the statistics of its gradient. The caller must not change the
  /// image until require_usable() has returned.
  void copy(Stream& stream, StageClock& clock, const HostImage& pixels);
  void copy(Stream& stream, StageClock& clock, const Image& pixels);
  /// The image of the last copy().
  [[nodiscard]] const Image& copied() const { return *pixels_; }

  /// Like copy(), but uses an image that is already on the device without copying it. Returns the
  /// image on the device.
  const Image& use(Stream& stream, StageClock& clock, const HostImage& pixels);
  const Image& use(Stream& stream, StageClock& clock, const Image& pixels);

  [[nodiscard]] const Buffer& statistics() const { return statistics_; }

  /// Waits for the statistics. Throws Error(invalid_image) if the image cannot be registered;
  /// `what` is its name in the message.
  void require_usable(const char* what);

 private:
  Image& own_pixels();
  void enqueue_statistics(Stream& stream, StageClock& clock, const Image& pixels);

  Device device_;
  PixelType type_;
  Shape shape_;
  StatisticsPlan statistics_plan_;
  std::optional<Image> pixels_;  // allocated for the first copy
  Buffer statistics_;
  Readback<StatisticsRecord> statistics_readback_;
};

/// Throws Error(invalid_argument) unless a Registrar supports images of this type and shape.
void check_registrable(const char* what, PixelType type, const Shape& shape);

}  // namespace warpalign::detail
