// The shifts of all windows of a batch of frames, on the device.
#include "registration/local/shift_search.hpp"

#include "registration/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace warpalign::detail {

namespace {

// Of the Gaussian weight of the cross-power spectrum, in units of the Nyquist frequency: the
// highest frequencies hold more noise than image.
constexpr float sigma = 0.5F;

// Rows of a window that one work-group sums. It does not depend on the number of frames, so that a
// frame's result does not either.
constexpr std::int64_t rows_of_part = 32;

Shape stack_of(const Shape& frame, std::int64_t frames) {
  return {frame.width, frame.height, frames};
}

CutWindowsSpec cut_spec(const Shape& frame, std::int64_t frames, const WindowGrid& grid) {
  return {frame, frames, grid.origins, grid.window};
}

Shape windows_of(const WindowGrid& grid, std::int64_t frames) {
  return stack_of(grid.window, frames * static_cast<std::int64_t>(grid.origins.size()));
}

int parts_of(const WindowGrid& grid) {
  return static_cast<int>((grid.window.height + rows_of_part - 1) / rows_of_part);
}

std::size_t bytes_of(const Shape& frame, PixelType type) {
  return static_cast<std::size_t>(frame.plane()) * size_of(type);
}

bool dense(const HostImage& image) {
  const auto row = static_cast<std::size_t>(image.width) * size_of(image.type);
  return image.row_bytes == 0 || static_cast<std::size_t>(image.row_bytes) == row;
}

// Whether the frames lie one after the other in memory.
bool contiguous(std::span<const HostImage> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!dense(frames[i])) return false;
    const auto* first = static_cast<const char*>(frames[0].data);
    if (frames[i].data != first + i * bytes_of(frames[i].shape(), frames[i].type)) return false;
  }
  return true;
}

void copy(const HostImage& image, char* target) {
  const std::size_t row = static_cast<std::size_t>(image.width) * size_of(image.type);
  const std::size_t pitch = dense(image) ? row : static_cast<std::size_t>(image.row_bytes);
  const auto* source = static_cast<const char*>(image.data);
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::memcpy(target + static_cast<std::size_t>(y) * row,
                source + static_cast<std::size_t>(y) * pitch, row);
  }
}

}  // namespace

WindowReference::WindowReference(const Device& on, const Shape& frame, const WindowGrid& grid)
    : pixels(on.make_image(PixelType::f32, frame)),
      windows(on.make_image(PixelType::f32, windows_of(grid, 1))),
      spectra(on.make_image(PixelType::c32, RealFftPlan::half_spectrum(windows_of(grid, 1)))),
      means(on.make_buffer(grid.origins.size() * sizeof(float))) {}

WindowTransform::WindowTransform(const Device& device, const Shape& frame, std::int64_t frames,
                                 const WindowGrid& grid, FftDirections directions)
    : cut_(device, cut_spec(frame, frames, grid)),
      fft_(device, {windows_of(grid, frames), 2, directions}) {}

void WindowTransform::forward(Stream& stream, const Image& frames, Buffer& means, Image& windows,
                              Image& spectra) const {
  cut_.execute(stream, frames, means, windows);
  fft_.forward(stream, windows, spectra);
}

ShiftSearch::ShiftSearch(const Device& on, PixelType type, const Shape& frame, std::int64_t frames,
                         const WindowGrid& grid, double max_shift)
    : type_(type),
      frame_(frame),
      frames_(static_cast<std::size_t>(frames)),
      grid_(grid),
      max_shift_(max_shift),
      convert_(on, {stack_of(frame, frames), type, PixelType::f32}),
      transform_(on, frame, frames, grid, FftDirections::both),
      power_(on, {grid.window, static_cast<std::int64_t>(grid.origins.size()), frames, sigma}),
      peak_(on, {windows_of(grid, frames)}),
      sums_(on, {frame, static_cast<std::int64_t>(grid.origins.size()), frames, parts_of(grid)}),
      raw_(on.make_image(type, stack_of(frame, frames))),
      pixels_(on.make_image(PixelType::f32, stack_of(frame, frames))),
      windows_(on.make_image(PixelType::f32, windows_of(grid, frames))),
      spectra_(on.make_image(PixelType::c32, RealFftPlan::half_spectrum(windows_of(grid, frames)))),
      means_(on.make_buffer(frames_ * grid.origins.size() * sizeof(float))),
      records_on_device_(on.make_buffer(frames_ * grid.origins.size() * sizeof(PeakRecord))),
      records_(frames_ * grid.origins.size()),
      states_(records_.size()),
      results_(records_.size()) {
  fits_.reserve(records_.size());
  clear(on);
}

// A batch that is not full computes with what lies in the rest of the memory.
void ShiftSearch::clear(const Device& on) {
  staging_.resize(frames_ * bytes_of(frame_, type_));
  Stream stream = on.make_stream();
  stream.upload(staging_.data(), staging_.size(), raw_.buffer());
  staging_ = {};
}

void ShiftSearch::upload(Stream& stream, std::span<const HostImage> frames) {
  const std::size_t bytes = bytes_of(frame_, type_);
  if (contiguous(frames)) {
    stream.upload(frames[0].data, frames.size() * bytes, raw_.buffer());
  } else {
    staging_.resize(frames_ * bytes);
    for (std::size_t i = 0; i < frames.size(); ++i) copy(frames[i], staging_.data() + i * bytes);
    stream.upload(staging_.data(), frames.size() * bytes, raw_.buffer());
  }
  convert_.execute(stream, raw_, pixels_);
}

// Fits from the peaks of the correlation; the windows of frames that are not there have none.
void ShiftSearch::start_fits(std::span<const PeakRecord> peaks) {
  fits_.clear();
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const WindowOrigin& origin = grid_.origins[i % grid_.origins.size()];
    const auto shift = [](std::int32_t position, std::int64_t period) {
      return static_cast<std::int32_t>(
          std::lround(signed_shift(position, static_cast<double>(period))));
    };
    const WindowOrigin peak{shift(peaks[i].x, grid_.window.width),
                            shift(peaks[i].y, grid_.window.height)};
    const bool allowed = peaks[i].value > 0 && std::abs(peak.x) <= max_shift_ + 0.5 &&
                         std::abs(peak.y) <= max_shift_ + 0.5;
    if (allowed) {
      fits_.emplace_back(frame_, grid_.window, origin, peak);
    } else {
      fits_.emplace_back(grid_.window, origin);
    }
  }
}

// All windows take their steps together; those that have converged drop out.
void ShiftSearch::fit(Stream& stream, const WindowReference& reference) {
  const auto some_active = [&] {
    return std::any_of(fits_.begin(), fits_.end(), [](const WindowFit& f) { return f.active(); });
  };
  while (some_active()) {
    std::fill(states_.begin(), states_.end(), ShiftState{});
    for (std::size_t i = 0; i < fits_.size(); ++i) states_[i] = fits_[i].state();
    sums_.execute(stream, pixels_, reference.pixels, means_, reference.means, states_, results_);
    for (std::size_t i = 0; i < fits_.size(); ++i) {
      if (fits_[i].active()) fits_[i].take(results_[i]);
    }
  }
}

void ShiftSearch::run(Stream& stream, const WindowReference& reference,
                      std::span<const HostImage> frames, std::vector<WindowShift>& result) {
  upload(stream, frames);
  transform_.forward(stream, pixels_, means_, windows_, spectra_);
  power_.execute(stream, reference.spectra, spectra_, spectra_);
  transform_.fft().inverse(stream, spectra_, windows_);
  peak_.execute(stream, windows_, records_on_device_);
  const std::size_t windows = frames.size() * grid_.origins.size();
  stream.download(records_on_device_, records_.data(), windows * sizeof(PeakRecord));
  start_fits(std::span(records_).first(windows));
  fit(stream, reference);
  for (const WindowFit& fitted : fits_) result.push_back(fitted.result());
}

}  // namespace warpalign::detail
