// The fits of many windows, which take their steps together on the device.
#pragma once

#include "registration/local/windows/window_fit.hpp"
#include "registration/local/windows/window_grid.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

class WindowFits {
 public:
  /// For the windows of `frames` frames at once.
  WindowFits(const Device& device, const Shape& frame, std::int64_t frames, const WindowGrid& grid);

  /// Takes steps until no fit is active. `fits`: one for each window of the first frames of the
  /// stack, one after the other; windows behind them are left out.
  void run(StageClock& clock, const Image& frames, const Image& reference,
           const Buffer& frame_means, const Buffer& reference_means, std::span<WindowFit> fits);

 private:
  ShiftSumsPlan sums_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;
};

}  // namespace warpalign::detail
