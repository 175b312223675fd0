// Fits many windows at once; the device evaluates all of them in one launch.
#include "registration/local/windows/window_fits.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// The rows of a window that one work-group sums. The number is constant, so that the result of a
// frame does not depend on the number of frames.
constexpr std::int64_t rows_of_part = 32;

int parts_of(const WindowGrid& grid) {
  return static_cast<int>((grid.window.height + rows_of_part - 1) / rows_of_part);
}

}  // namespace

WindowFits::WindowFits(const Device& on, const Shape& frame, std::int64_t frames,
                       const WindowGrid& grid)
    : sums_(on, {frame, static_cast<std::int64_t>(grid.origins.size()), frames, parts_of(grid)}),
      states_(static_cast<std::size_t>(frames) * grid.origins.size()),
      results_(states_.size()) {}

void WindowFits::run(StageClock& clock, const Image& frames, const Image& reference,
                     const Buffer& frame_means, const Buffer& reference_means,
                     std::span<WindowFit> fits) {
  Stream& stream = clock.stream();
  const auto some_active = [&] {
    return std::any_of(fits.begin(), fits.end(), [](const WindowFit& f) { return f.active(); });
  };
  while (some_active()) {
    std::fill(states_.begin(), states_.end(), ShiftState{});
    for (std::size_t i = 0; i < fits.size(); ++i) states_[i] = fits[i].state();
    clock.run("shift sums", [&] {
      sums_.enqueue(stream, frames, reference, frame_means, reference_means, states_);
    });
    sums_.fetch(stream, states_, results_);
    for (std::size_t i = 0; i < fits.size(); ++i) {
      if (fits[i].active()) fits[i].take(results_[i]);
    }
  }
}

}  // namespace warpalign::detail
