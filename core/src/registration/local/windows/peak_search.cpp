// Correlates the windows of a batch of frames with those of the reference and locates the peaks.
#include "registration/local/windows/peak_search.hpp"

#include "device/host_rows.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <cmath>

namespace warpalign::detail {

namespace {

CutWindowsSpec cut_spec(const Shape& frame, std::int64_t frames, const WindowGrid& grid) {
  return {frame, frames, grid.origins, grid.window};
}

Shape windows_of(const WindowGrid& grid, std::int64_t frames) {
  return stacked(grid.window, 2, frames * static_cast<std::int64_t>(grid.origins.size()));
}

std::size_t bytes_of(const Shape& frame, PixelType type) {
  return static_cast<std::size_t>(frame.plane()) * size_of(type);
}

// Whether the frames are contiguous in memory.
bool contiguous(std::span<const HostImage> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!is_dense(frames[i])) return false;
    const auto* first = static_cast<const char*>(frames[0].data);
    if (frames[i].data != first + i * bytes_of(frames[i].shape(), frames[i].type)) return false;
  }
  return true;
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

void WindowTransform::forward(StageClock& clock, const Image& frames, Buffer& means, Image& windows,
                              Image& spectra) const {
  Stream& stream = clock.stream();
  clock.run("cut windows", [&] { cut_.execute(stream, frames, means, windows); });
  clock.run("fft", [&] { fft_.forward(stream, windows, spectra); });
}

void PixelUpload::run(Stream& stream, const HostImage& image, Image& pixels) {
  if (image.type == PixelType::f32) return stream.upload(image, pixels);
  if (!raw_ || raw_->type() != image.type) {
    raw_.reset();  // frees its memory before the new one allocates
    convert_.emplace(device_, ConvertSpec{shape_, image.type, PixelType::f32});
    raw_.emplace(device_.make_image(image.type, shape_));
  }
  stream.upload(image, *raw_);
  convert_->execute(stream, *raw_, pixels);
}

StackUpload::StackUpload(const Device& on, PixelType type, const Shape& frame, std::int64_t frames)
    : device_(on),
      type_(type),
      frame_(frame),
      frames_(static_cast<std::size_t>(frames)),
      convert_(on, {stacked(frame, 2, frames), type, PixelType::f32}),
      raw_(on.make_image(type, stacked(frame, 2, frames))),
      pixels_(on.make_image(PixelType::f32, stacked(frame, 2, frames))) {
  clear();
}

// Initializes the memory, because a batch that is not full computes with all of it.
void StackUpload::clear() {
  const std::vector<char> zeros(frames_ * bytes_of(frame_, type_));
  Stream stream = device_.make_stream();
  stream.upload(zeros.data(), zeros.size(), raw_.buffer());
}

void StackUpload::run(StageClock& clock, std::span<const HostImage> frames) {
  Stream& stream = clock.stream();
  const std::size_t bytes = bytes_of(frame_, type_);
  const void* source = frames[0].data;
  if (!contiguous(frames)) {
    if (!staging_) staging_ = device_.make_host_buffer(frames_ * bytes);
    auto* const together = static_cast<char*>(staging_->data());
    for (std::size_t i = 0; i < frames.size(); ++i) copy_rows(frames[i], together + i * bytes);
    source = together;
  }
  clock.run("upload", [&] { stream.upload(source, frames.size() * bytes, raw_.buffer()); });
  clock.run("convert", [&] { convert_.execute(stream, raw_, pixels_); });
}

PeakSearch::PeakSearch(const Device& on, PixelType type, const Shape& frame, std::int64_t frames,
                       const WindowGrid& grid)
    : frames_(static_cast<std::size_t>(frames)),
      windows_of_frame_(grid.origins.size()),
      upload_(on, type, frame, frames),
      transform_(on, frame, frames, grid, FftDirections::both),
      power_(on, {grid.window, static_cast<std::int64_t>(grid.origins.size()), frames,
                  correlation_sigma}),
      peak_(on, {windows_of(grid, frames)}),
      windows_(on.make_image(PixelType::f32, windows_of(grid, frames))),
      spectra_(on.make_image(PixelType::c32, RealFftPlan::half_spectrum(windows_of(grid, frames)))),
      means_(on.make_buffer(frames_ * windows_of_frame_ * sizeof(float))),
      records_on_device_(on.make_buffer(frames_ * windows_of_frame_ * sizeof(PeakRecord))),
      records_(frames_ * windows_of_frame_) {}

std::span<const PeakRecord> PeakSearch::run(StageClock& clock, const WindowReference& reference,
                                            std::span<const HostImage> frames) {
  Stream& stream = clock.stream();
  upload_.run(clock, frames);
  transform_.forward(clock, upload_.pixels(), means_, windows_, spectra_);
  clock.run("cross power", [&] { power_.execute(stream, reference.spectra, spectra_, spectra_); });
  clock.run("inverse fft", [&] { transform_.fft().inverse(stream, spectra_, windows_); });
  clock.run("peak", [&] { peak_.execute(stream, windows_, records_on_device_); });
  const std::size_t windows = frames.size() * windows_of_frame_;
  stream.download(records_on_device_, records_.data(), windows * sizeof(PeakRecord));
  return std::span(records_).first(windows);
}

std::optional<WindowOrigin> shift_at(const PeakRecord& peak, const Shape& window,
                                     double max_shift) {
  const auto along = [](std::int32_t position, std::int64_t period) {
    return static_cast<std::int32_t>(
        std::lround(signed_shift(position, static_cast<double>(period))));
  };
  const WindowOrigin shift{along(peak.x, window.width), along(peak.y, window.height)};
  const bool allowed = peak.value > 0 && std::abs(shift.x) <= max_shift + 0.5 &&
                       std::abs(shift.y) <= max_shift + 0.5;
  if (!allowed) return std::nullopt;
  return shift;
}

}  // namespace warpalign::detail
