// Stage: marks the masked voxels of a volume with NaN.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <memory>

namespace warpalign {

namespace backend {
class MarkVolume;
}

struct MarkVolumeSpec {
  PixelType type = PixelType::f32;  ///< of the voxels: u8, u16 or f32
  Shape shape;                      ///< of the voxels, the u8 mask and the f32 output
};

/// Converts voxels to f32, and sets them to NaN where the mask is 0 or the voxel is infinite.
/// Stages that accept marked volumes ignore NaN.
class WARPALIGN_API MarkVolumePlan {
 public:
  MarkVolumePlan(const Device& device, const MarkVolumeSpec& spec);
  /// `voxels` may be the mask itself.
  void execute(Stream& stream, const Image& voxels, const Image& mask, Image& marked) const;

 private:
  Device device_;
  MarkVolumeSpec spec_;
  std::shared_ptr<backend::MarkVolume> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class MarkVolume : public Stage {
 public:
  using Setup = MarkVolumeSpec;

  virtual void enqueue(Queue& queue, const Memory& voxels, const Memory& mask, Memory& marked) = 0;
};

}  // namespace warpalign::backend
