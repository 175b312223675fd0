// From pixels to a gradient image that is ready for the canvas: upload, Sobel, statistics.
#pragma once

#include "registration/stage_clock.hpp"

#include <warpalign/stages/sobel.hpp>
#include <warpalign/stages/statistics.hpp>

#include <optional>

namespace warpalign::detail {

/// The plans and memory for images of one type and shape, with the last one's gradient.
class Source {
 public:
  Source(const Device& device, PixelType type, const Shape& shape);

  [[nodiscard]] bool fits(PixelType type, const Shape& shape) const {
    return type == type_ && shape == shape_;
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Image& gradient() const { return gradient_; }
  [[nodiscard]] const Buffer& statistics() const { return statistics_; }

  void take(Stream& stream, StageClock& clock, const HostImage& pixels);
  void take(Stream& stream, StageClock& clock, const Image& pixels);

  /// Waits; throws Error(invalid_image) when the last image taken cannot be registered. `what`
  /// names it in the message.
  void require_usable(Stream& stream, const char* what) const;

 private:
  Device device_;
  PixelType type_;
  Shape shape_;
  SobelPlan sobel_;
  StatisticsPlan statistics_plan_;
  std::optional<Image> pixels_;  // only once an image came from the host
  Image gradient_;
  Buffer statistics_;
};

/// Throws Error(invalid_argument) unless the type and shape are what a Registrar takes.
void check_registrable(const char* what, PixelType type, const Shape& shape);

}  // namespace warpalign::detail
