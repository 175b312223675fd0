// Stage: scales and tapers a volume, and pads it with zeros.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

namespace warpalign {

namespace backend {
class PadVolume;
}

struct PadVolumeSpec {
  PixelType input_type = PixelType::f32;  ///< u8, u16 or f32
  Shape input;
  Shape padded;         ///< of the f32 output; at least as large as the input along each axis
  double taper = 0;     ///< fraction of each side that is tapered towards either end, 0 to 0.5
  bool marked = false;  ///< whether NaN marks ignored voxels, which become 0; f32 only
};

/// The scaling of a voxel's value: (value - offset) scale.
struct VolumeLevels {
  float offset = 0;
  float scale = 1;
};

/// Computes padded(p) = (input(p) - offset) scale w(x) w(y) w(z) if p is a voxel of the input, and
/// 0 elsewhere. Voxel (0, 0, 0) of the input is voxel (0, 0, 0) of the padded frame. w is Tukey's
/// window (the tapered cosine): along an axis of n voxels, it is sin^2(pi/2 (i + 1/2) / ramp) over
/// the first ramp = taper n voxels, 1 in the middle, and symmetric at the end. A taper of 0.5 is
/// the Hann window. Unless the volume is marked, NaN gives NaN.
class WARPALIGN_API PadVolumePlan {
 public:
  PadVolumePlan(const Device& device, const PadVolumeSpec& spec);
  void execute(Stream& stream, const Image& input, const VolumeLevels& levels, Image& padded) const;

 private:
  Device device_;
  PadVolumeSpec spec_;
  std::shared_ptr<backend::PadVolume> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class PadVolume : public Stage {
 public:
  using Setup = PadVolumeSpec;

  virtual void enqueue(Queue& queue, const Memory& input, const VolumeLevels& levels,
                       Memory& padded) = 0;
};

}  // namespace warpalign::backend
