// The shifts of a batch of frames, each taken as a whole.
#include "registration/frames/frame_search.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

std::size_t count_of(std::int64_t frames) { return static_cast<std::size_t>(frames); }

}  // namespace

WindowGrid whole_frame(const Shape& frame) { return {frame, 1, 1, {WindowOrigin{}}}; }

CellMeans::CellMeans(const Device& device, std::int64_t frames, std::size_t cells)
    : cells_(cells),
      on_device_(device.make_buffer(count_of(frames) * cells * sizeof(float))),
      of_frames_(count_of(frames)),
      of_cells_(count_of(frames) * cells) {}

void CellMeans::take(Stream& stream, const Buffer& means) {
  stream.download(means, of_frames_.data(), of_frames_.size() * sizeof(float));
  for (std::size_t i = 0; i < of_cells_.size(); ++i) of_cells_[i] = of_frames_[i / cells_];
  stream.upload(of_cells_.data(), of_cells_.size() * sizeof(float), on_device_);
}

FrameReference::FrameReference(const Device& device, const Shape& frame)
    : upload_(device, frame),
      transform_(device, frame, 1, whole_frame(frame), FftDirections::forward),
      window_(device, frame, whole_frame(frame)),
      cell_means_(device, 1, cells_of(frame).size()) {}

void FrameReference::take(Stream& stream, const HostImage& image) {
  upload_.run(stream, image, window_.pixels);
  transform_.forward(stream, window_.pixels, window_.means, window_.windows, window_.spectra);
  cell_means_.take(stream, window_.means);
}

FrameSearch::FrameSearch(const Device& on, PixelType type, const Shape& frame, std::int64_t frames,
                         double max_shift)
    : frame_(frame),
      grid_(whole_frame(frame)),
      cells_(cells_of(frame)),
      max_shift_(max_shift),
      peaks_(on, type, frame, frames, grid_),
      sums_(on, {frame, static_cast<std::int64_t>(cells_.size()), frames, 1}),
      means_(on, frames, cells_.size()),
      states_(count_of(frames) * cells_.size()),
      results_(states_.size()),
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

void FrameSearch::evaluate(Stream& stream, const FrameReference& reference) {
  std::fill(states_.begin(), states_.end(), ShiftState{});
  std::fill(results_.begin(), results_.end(), ShiftSums{});
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    const ShiftState state = fits_[i].state();
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      states_[i * cells_.size() + c] = within_cell(state, cells_[c]);
    }
  }
  sums_.execute(stream, peaks_.pixels(), reference.window().pixels, means_.buffer(),
                reference.cell_means(), states_, results_);
}

void FrameSearch::step(std::size_t frame) {
  WindowFit& fit = fits_[frame];
  const auto cells = std::span(results_).subspan(frame * cells_.size(), cells_.size());
  fit.take(sum_of(cells));
  if (fit.active()) return;
  found_[frame].evenly_lit =
      fit.result().reliable && is_evenly_lit(cells, fit.gain(), fit.offset());
}

std::span<const FrameShift> FrameSearch::run(Stream& stream, const FrameReference& reference,
                                             std::span<const HostImage> frames) {
  start_fits(peaks_.run(stream, reference.window(), frames));
  means_.take(stream, peaks_.means());
  std::fill(found_.begin(), found_.end(), FrameShift{});
  const auto some_active = [&] {
    return std::any_of(fits_.begin(), fits_.end(), [](const WindowFit& f) { return f.active(); });
  };
  while (some_active()) {
    evaluate(stream, reference);
    for (std::size_t i = 0; i < fits_.size(); ++i) {
      if (fits_[i].active()) step(i);
    }
  }
  for (std::size_t i = 0; i < fits_.size(); ++i) found_[i].found = fits_[i].result();
  return std::span<const FrameShift>(found_).first(frames.size());
}

}  // namespace warpalign::detail
