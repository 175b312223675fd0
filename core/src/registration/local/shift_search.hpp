// The shifts of all windows of a batch of frames, on the device.
#pragma once

#include "registration/local/peak_search.hpp"
#include "registration/local/window_fit.hpp"
#include "registration/local/window_grid.hpp"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

class ShiftSearch {
 public:
  /// For `frames` frames at once.
  ShiftSearch(const Device& device, PixelType type, const Shape& frame, std::int64_t frames,
              const WindowGrid& grid, double max_shift);

  [[nodiscard]] std::size_t frames() const { return peaks_.frames(); }
  /// The shifts of all windows of `frames`, at most frames(), one after the other.
  void run(StageClock& clock, const WindowReference& reference, std::span<const HostImage> frames,
           std::span<WindowShift> result);

 private:
  void start_fits(std::span<const PeakRecord> peaks);
  void fit(StageClock& clock, const WindowReference& reference);

  Shape frame_;
  const WindowGrid& grid_;
  double max_shift_;
  PeakSearch peaks_;
  ShiftSumsPlan sums_;
  std::vector<WindowFit> fits_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;
};

}  // namespace warpalign::detail
