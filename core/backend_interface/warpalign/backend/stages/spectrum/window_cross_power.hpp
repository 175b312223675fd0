// Stage: the cross-power spectra of many windows with the windows of a reference.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class WindowCrossPower;
}

struct WindowCrossPowerSpec {
  Shape window;              ///< of the real windows of the spectra; depth 1
  std::int64_t windows = 1;  ///< number of windows of the reference and of each frame
  std::int64_t frames = 1;   ///< number of frames
  /// Standard deviation of a Gaussian weight on the frequency, as CrossPowerSpec::sigma; 0: none.
  float sigma = 0;
  bool whitened = true;  ///< false: w A conj(B), whose inverse transform is the correlation
};

/// Computes the symmetric phase-only filter (Wernet 2005, Experiments in Fluids 39) of window k of
/// each frame, with spectrum A, and window k of the reference, with spectrum B: w A conj(B) /
/// sqrt(|A| |B|), and 0 if the denominator vanishes. Its inverse transform has a peak at d if a(x)
/// = b(x - d). Phase correlation, which divides by |A| |B|, gives frequencies that contain only
/// noise the same weight as all others, and small windows have few others. All spectra are c32,
/// stacked frame by frame.
class WARPALIGN_API WindowCrossPowerPlan {
 public:
  WindowCrossPowerPlan(const Device& device, const WindowCrossPowerSpec& spec);
  /// `frames` and `output` may be the same image, and with one frame `reference` too.
  void execute(Stream& stream, const Image& reference, const Image& frames, Image& output) const;

 private:
  Device device_;
  WindowCrossPowerSpec spec_;
  std::shared_ptr<backend::WindowCrossPower> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class WindowCrossPower : public Stage {
 public:
  using Setup = WindowCrossPowerSpec;

  virtual void enqueue(Queue& queue, const Memory& reference, const Memory& frames,
                       Memory& output) = 0;
};

}  // namespace warpalign::backend
