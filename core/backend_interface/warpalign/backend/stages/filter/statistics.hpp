// Stage: mean, minimum, maximum and number of non-finite pixels of an image or a volume.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/sobel.hpp>

#include <cstdint>

namespace warpalign {

namespace backend {
class Statistics;
}

struct StatisticsSpec {
  Shape shape;                       ///< of an image, or of a volume
  PixelType input = PixelType::f32;  ///< u8, u16 or f32
  Signal signal = Signal::pixels;    ///< gradient: images only
};

/// The 16-byte record that a StatisticsPlan writes. NaN and infinities are counted, and otherwise
/// ignored.
struct StatisticsRecord {
  float mean = 0;               ///< of the finite pixels; 0 if there are none
  float minimum = 0;            ///< +infinity if no pixel is finite
  float maximum = 0;            ///< -infinity if no pixel is finite
  std::uint32_t nonfinite = 0;  ///< pixels that are NaN or infinite
};

/// Computes the mean, minimum, maximum and number of non-finite pixels of an image, a volume or an
/// image's gradient, by a two-stage parallel reduction.
class WARPALIGN_API StatisticsPlan {
 public:
  StatisticsPlan(const Device& device, const StatisticsSpec& spec);
  /// `record` must have room for sizeof(StatisticsRecord) bytes; it stays on the device.
  void execute(Stream& stream, const Image& input, Buffer& record) const;

 private:
  Device device_;
  StatisticsSpec spec_;
  std::shared_ptr<backend::Statistics> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class Statistics : public Stage {
 public:
  using Setup = StatisticsSpec;

  virtual void enqueue(Queue& queue, const Memory& input, Memory& record) = 0;
};

}  // namespace warpalign::backend
