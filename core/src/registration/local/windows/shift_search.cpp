// Measures the shifts of all windows of a batch of frames on the device.
#include "registration/local/windows/shift_search.hpp"

#include <algorithm>

namespace warpalign::detail {

ShiftSearch::ShiftSearch(const Device& on, PixelType type, const Shape& frame, std::int64_t frames,
                         const WindowGrid& grid, double max_shift)
    : frame_(frame),
      grid_(grid),
      max_shift_(max_shift),
      peaks_(on, type, frame, frames, grid),
      steps_(on, frame, frames, grid) {
  fits_.reserve(static_cast<std::size_t>(frames) * grid.origins.size());
}

// Starts a fit from the peak of each window.
void ShiftSearch::start_fits(std::span<const PeakRecord> peaks) {
  fits_.clear();
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const WindowOrigin& origin = grid_.origins[i % grid_.origins.size()];
    if (const auto shift = shift_at(peaks[i], grid_.window, max_shift_)) {
      fits_.emplace_back(frame_, grid_.window, origin, *shift);
    } else {
      fits_.emplace_back(grid_.window, origin);
    }
  }
}

void ShiftSearch::run(StageClock& clock, const WindowReference& reference,
                      std::span<const HostImage> frames, std::span<WindowShift> result) {
  start_fits(peaks_.run(clock, reference, frames));
  steps_.run(clock, peaks_.pixels(), reference.pixels, peaks_.means(), reference.means, fits_);
  std::transform(fits_.begin(), fits_.end(), result.begin(),
                 [](const WindowFit& fitted) { return fitted.result(); });
}

}  // namespace warpalign::detail
