// Fits many windows at once; the device evaluates all of them in one launch.
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
  /// `frames`: the number of frames in the stack.
  WindowFits(const Device& device, const Shape& frame, std::int64_t frames, const WindowGrid& grid);

  /// Makes steps until no fit is active. `fits`: one for each window, frame by frame, of the first
  /// frames of the stack. The windows of the other frames are ignored.
  void run(StageClock& clock, const Image& frames, const Image& reference,
           const Buffer& frame_means, const Buffer& reference_means, std::span<WindowFit> fits);

 private:
  ShiftSumsPlan sums_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;
};

}  // namespace warpalign::detail
