// Estimates the shifts of a batch of frames.
#include "registration/frames/frame_search.hpp"

#include "registration/frames/frame_stack.hpp"

#include <algorithm>

namespace warpalign::detail {

WindowGrid whole_frame(const Shape& frame) { return {frame, 1, 1, {WindowOrigin{}}}; }

FrameReference::FrameReference(const Device& device, const Shape& frame)
    : upload_(device, frame),
      transform_(device, frame, 1, whole_frame(frame), FftDirections::forward),
      window_(device, frame, whole_frame(frame)) {}

void FrameReference::take(StageClock& clock, const HostImage& image) {
  Stream& stream = clock.stream();
  upload_.run(stream, image, window_.pixels);
  transform_.forward(clock, window_.pixels, window_.means, window_.windows, window_.spectra);
}

FrameSearch::FrameSearch(const Device& on, PixelType type, const Shape& frame, std::int64_t frames,
                         double max_shift)
    : frame_(frame),
      grid_(whole_frame(frame)),
      cells_(cells_of(frame)),
      max_shift_(max_shift),
      peaks_(on, type, frame, frames, grid_),
      sums_(on, {frame, static_cast<std::int64_t>(cells_.size()), frames, 1,
                 static_cast<std::int64_t>(cells_.size())}),
      states_(count_of(frames) * cells_.size()),
      results_(count_of(frames)),
      cell_sums_(states_.size()),
      found_(count_of(frames)) {
  fits_.reserve(count_of(frames));
}

void FrameSearch::start_fits(std::span<const PeakRecord> peaks) {
  fits_.clear();
  for (const PeakRecord& peak : peaks) {
    if (const auto shift = shift_at(peak, frame_, max_shift_)) {
      fits_.emplace_back(frame_, frame_, WindowOrigin{}, *shift);
    } else {
      fits_.emplace_back(frame_, WindowOrigin{});
    }
  }
}

void FrameSearch::evaluate(StageClock& clock, const FrameReference& reference) {
  Stream& stream = clock.stream();
  std::fill(states_.begin(), states_.end(), ShiftState{});
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    const ShiftState state = fits_[i].state();
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      states_[i * cells_.size() + c] = restrict_to_cell(state, cells_[c]);
    }
  }
  clock.run("shift sums", [&] {
    sums_.enqueue(stream, peaks_.pixels(), reference.window().pixels, peaks_.means(),
                  reference.window().means, states_);
  });
  sums_.fetch(stream, states_, results_);
}

void FrameSearch::check_illumination(StageClock& clock) {
  sums_.fetch_windows(clock.stream(), cell_sums_);
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    const auto cells = std::span(cell_sums_).subspan(i * cells_.size(), cells_.size());
    found_[i].even_illumination = found_[i].found.reliable &&
                                  has_even_illumination(cells, fits_[i].gain(), fits_[i].offset());
  }
}

std::span<const FrameShift> FrameSearch::run(StageClock& clock, const FrameReference& reference,
                                             std::span<const HostImage> frames) {
  start_fits(peaks_.run(clock, reference.window(), frames));
  std::fill(found_.begin(), found_.end(), FrameShift{});
  const auto some_active = [&] {
    return std::any_of(fits_.begin(), fits_.end(), [](const WindowFit& f) { return f.active(); });
  };
  while (some_active()) {
    evaluate(clock, reference);
    for (std::size_t i = 0; i < fits_.size(); ++i) {
      if (fits_[i].active()) fits_[i].take(results_[i]);
    }
  }
  for (std::size_t i = 0; i < fits_.size(); ++i) found_[i].found = fits_[i].result();
  check_illumination(clock);
  return std::span<const FrameShift>(found_).first(frames.size());
}

}  // namespace warpalign::detail
