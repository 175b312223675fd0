// The shifts of all windows of a batch of frames, on the device.
#include "registration/local/shift_search.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// Rows of a window that one work-group sums. It does not depend on the number of frames, so that a
// frame's result does not either.
constexpr std::int64_t rows_of_part = 32;

int parts_of(const WindowGrid& grid) {
  return static_cast<int>((grid.window.height + rows_of_part - 1) / rows_of_part);
}

}  // namespace

ShiftSearch::ShiftSearch(const Device& on, PixelType type, const Shape& frame, std::int64_t frames,
                         const WindowGrid& grid, double max_shift)
    : frame_(frame),
      grid_(grid),
      max_shift_(max_shift),
      peaks_(on, type, frame, frames, grid),
      sums_(on, {frame, static_cast<std::int64_t>(grid.origins.size()), frames, parts_of(grid)}),
      states_(static_cast<std::size_t>(frames) * grid.origins.size()),
      results_(states_.size()) {
  fits_.reserve(states_.size());
}

// Fits from the peaks of the correlation; the windows of frames that are not there have none.
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

// All windows take their steps together; those that have converged drop out.
void ShiftSearch::fit(StageClock& clock, const WindowReference& reference) {
  Stream& stream = clock.stream();
  const auto some_active = [&] {
    return std::any_of(fits_.begin(), fits_.end(), [](const WindowFit& f) { return f.active(); });
  };
  while (some_active()) {
    std::fill(states_.begin(), states_.end(), ShiftState{});
    for (std::size_t i = 0; i < fits_.size(); ++i) states_[i] = fits_[i].state();
    clock.run("shift sums", [&] {
      sums_.enqueue(stream, peaks_.pixels(), reference.pixels, peaks_.means(), reference.means,
                    states_);
    });
    sums_.fetch(stream, states_, results_);
    for (std::size_t i = 0; i < fits_.size(); ++i) {
      if (fits_[i].active()) fits_[i].take(results_[i]);
    }
  }
}

void ShiftSearch::run(StageClock& clock, const WindowReference& reference,
                      std::span<const HostImage> frames, std::span<WindowShift> result) {
  start_fits(peaks_.run(clock, reference, frames));
  fit(clock, reference);
  std::transform(fits_.begin(), fits_.end(), result.begin(),
                 [](const WindowFit& fitted) { return fitted.result(); });
}

}  // namespace warpalign::detail
