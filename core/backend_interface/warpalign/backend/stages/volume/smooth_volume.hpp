// Stage: smooths a volume in which NaN marks ignored voxels.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <memory>

namespace warpalign {

namespace backend {
class SmoothVolume;
}

struct SmoothVolumeSpec {
  Shape shape;  ///< of the f32 input and output
};

/// Computes smoothed(p) = sum_k volume(k) beta_3(p - k): the cubic B-spline with the voxels as
/// coefficients, mirrored about the first and the last voxel along each axis. The result is NaN if
/// a coefficient that it needs is NaN. Without NaN it equals that of InterpolatePlan at the voxels.
class WARPALIGN_API SmoothVolumePlan {
 public:
  SmoothVolumePlan(const Device& device, const SmoothVolumeSpec& spec);
  void execute(Stream& stream, const Image& volume, Image& smoothed) const;

 private:
  Device device_;
  SmoothVolumeSpec spec_;
  std::shared_ptr<backend::SmoothVolume> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class SmoothVolume : public Stage {
 public:
  using Setup = SmoothVolumeSpec;

  virtual void enqueue(Queue& queue, const Memory& volume, Memory& smoothed) = 0;
};

}  // namespace warpalign::backend
