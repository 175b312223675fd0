// Stage: a volume's voxels levelled, tapered, and placed on a canvas.
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
  Shape padded;      ///< of the f32 output; at least as large as the input along each axis
  double taper = 0;  ///< part of each side that falls off towards either end, 0 to 0.5
};

/// What becomes 0, and what a step of 1 becomes.
struct VolumeLevels {
  float offset = 0;
  float scale = 1;
};

/// canvas(p) = (input(p) - offset) scale w(x) w(y) w(z) where p is a voxel of the input, whose
/// voxel (0, 0, 0) is the canvas's; 0 elsewhere. w is Tukey's window (the tapered cosine): along an
/// axis of n voxels, sin^2(pi/2 (i + 1/2) / ramp) over the first ramp = taper n of them, 1 in the
/// middle, and the same falling at the end; a taper of 0.5 is the Hann window.
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
