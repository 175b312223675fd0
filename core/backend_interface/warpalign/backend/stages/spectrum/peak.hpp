// Stage: the maximum of an image, with its coordinates and neighbours.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace warpalign {

namespace backend {
class Peak;
}

struct PeakSpec {
  Shape shape;  ///< of the f32 input; the plan finds one peak per slice along `depth`
};

/// The peak of one slice.
struct PeakRecord {
  float value = 0;                    ///< the maximum; -infinity if every pixel is NaN
  std::int32_t x = 0;                 ///< its column; of equal maxima, the first in row-major order
  std::int32_t y = 0;                 ///< its row
  std::array<float, 9> neighbours{};  ///< the 3 x 3 pixels around it, row-major, wrapping around
                                      ///< the image's edges; [4] is the maximum itself
};

/// Finds the maximum and its coordinates in two steps: parallel partial maxima, then their
/// reduction (registration paper, section 4). NaN is never a maximum.
class WARPALIGN_API PeakPlan {
 public:
  PeakPlan(const Device& device, const PeakSpec& spec);
  /// `records` must have room for depth x sizeof(PeakRecord) bytes; it stays on the device.
  void execute(Stream& stream, const Image& input, Buffer& records) const;

 private:
  Device device_;
  PeakSpec spec_;
  std::shared_ptr<backend::Peak> kernel_;
};

/// A peak's position with subpixel precision: the vertex of the parabola through the maximum and
/// its two neighbours along each axis, at most half a pixel away from the maximum.
[[nodiscard]] WARPALIGN_API Point subpixel_position(const PeakRecord& peak) noexcept;

}  // namespace warpalign

namespace warpalign::backend {

class Peak : public Stage {
 public:
  using Setup = PeakSpec;

  virtual void enqueue(Queue& queue, const Memory& input, Memory& records) = 0;
};

}  // namespace warpalign::backend
