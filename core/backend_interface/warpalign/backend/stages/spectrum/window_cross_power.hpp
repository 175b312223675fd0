// Stage: the cross-power spectra of many windows with those of a reference.
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
  Shape window;              ///< of the real windows whose spectra are given; depth 1
  std::int64_t windows = 1;  ///< of the reference
  std::int64_t frames = 1;   ///< each has as many windows
  /// Standard deviation of a Gaussian weight on the frequency, as CrossPowerSpec::sigma; 0: none.
  float sigma = 0;
};

/// For window k of frame f, with spectrum A, and window k of the reference, with spectrum B:
/// w A conj(B) / sqrt(|A| |B|), the symmetric phase-only filter (Wernet 2005, Experiments in Fluids
/// 39), and 0 where the denominator vanishes. Its inverse transform peaks at d when a(x) = b(x -
/// d). Phase correlation, which divides by |A| |B|, counts frequencies that hold only noise as much
/// as the others, and small windows have few others. All spectra are c32, stacked, frame by frame.
class WARPALIGN_API WindowCrossPowerPlan {
 public:
  WindowCrossPowerPlan(const Device& device, const WindowCrossPowerSpec& spec);
  /// `frames` and `output` may be the same image.
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
