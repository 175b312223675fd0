// Stage: halves the resolution of a volume in which NaN marks ignored voxels.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <memory>

namespace warpalign {

namespace backend {
class HalveVolume;
}

struct HalveVolumeSpec {
  Shape shape;                         ///< of the f32 input
  std::array<bool, 3> halved{};        ///< the axes along which the resolution is halved: x, y, z
  [[nodiscard]] Shape output() const;  ///< of the f32 output; drops an odd last voxel
};

/// Each output voxel is the mean of the up to eight voxels that it replaces, without NaN. It is NaN
/// if more than half of them are NaN.
class WARPALIGN_API HalveVolumePlan {
 public:
  HalveVolumePlan(const Device& device, const HalveVolumeSpec& spec);
  void execute(Stream& stream, const Image& volume, Image& halved) const;

 private:
  Device device_;
  HalveVolumeSpec spec_;
  std::shared_ptr<backend::HalveVolume> kernel_;
};

inline Shape HalveVolumeSpec::output() const {
  return {halved[0] ? shape.width / 2 : shape.width, halved[1] ? shape.height / 2 : shape.height,
          halved[2] ? shape.depth / 2 : shape.depth};
}

}  // namespace warpalign

namespace warpalign::backend {

class HalveVolume : public Stage {
 public:
  using Setup = HalveVolumeSpec;

  virtual void enqueue(Queue& queue, const Memory& volume, Memory& halved) = 0;
};

}  // namespace warpalign::backend
