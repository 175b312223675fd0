// Measures the shifts of all windows of a batch of frames on the device.
#pragma once

#include "registration/local/windows/peak_search.hpp"
#include "registration/local/windows/window_fits.hpp"
#include "registration/local/windows/window_grid.hpp"

#include <span>
#include <vector>

namespace warpalign::detail {

class ShiftSearch {
 public:
  /// `frames`: the maximum number of frames in one run.
  ShiftSearch(const Device& device, PixelType type, const Shape& frame, std::int64_t frames,
              const WindowGrid& grid, double max_shift);

  [[nodiscard]] std::size_t frames() const { return peaks_.frames(); }
  /// Measures the shifts of all windows of at most frames() frames, frame by frame.
  void run(StageClock& clock, const WindowReference& reference, std::span<const HostImage> frames,
           std::span<WindowShift> result);
  /// The fits of the last run.
  [[nodiscard]] std::span<const WindowFit> fits() const { return fits_; }
  /// The means of the windows of the last run.
  [[nodiscard]] const Buffer& means() const { return peaks_.means(); }

 private:
  void start_fits(std::span<const PeakRecord> peaks);

  Shape frame_;
  const WindowGrid& grid_;
  double max_shift_;
  PeakSearch peaks_;
  WindowFits steps_;
  std::vector<WindowFit> fits_;
};

}  // namespace warpalign::detail
