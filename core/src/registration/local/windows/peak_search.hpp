// The peaks of the correlation of windows of frames with a reference's, for a batch of frames.
#pragma once

#include "registration/local/windows/window_grid.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/stages/convert.hpp>
#include <warpalign/stages/fft.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Of the Gaussian weight of the cross-power spectrum, in units of the Nyquist frequency: the
/// highest frequencies hold more noise than image.
inline constexpr float correlation_sigma = 0.5F;

/// What is kept of a reference.
struct WindowReference {
  WindowReference(const Device& device, const Shape& frame, const WindowGrid& grid);
  Image pixels;   ///< f32
  Image windows;  ///< apodized; overwritten by nothing, but needed no more once transformed
  Image spectra;
  Buffer means;  ///< of its windows
};

/// Cuts and transforms the windows of frames.
class WindowTransform {
 public:
  WindowTransform(const Device& device, const Shape& frame, std::int64_t frames,
                  const WindowGrid& grid, FftDirections directions);
  void forward(StageClock& clock, const Image& frames, Buffer& means, Image& windows,
               Image& spectra) const;
  [[nodiscard]] const RealFftPlan& fft() const { return fft_; }

 private:
  CutWindowsPlan cut_;
  RealFftPlan fft_;
};

/// Brings images of one shape to the device as f32; keeps what that takes for the next one's type.
class PixelUpload {
 public:
  PixelUpload(const Device& device, const Shape& shape) : device_(device), shape_(shape) {}
  void run(Stream& stream, const HostImage& image, Image& pixels);

 private:
  Device device_;
  Shape shape_;
  std::optional<Image> raw_;  ///< of the type that was uploaded last, unless that was f32
  std::optional<ConvertPlan> convert_;
};

/// Brings frames of one type and shape to the device, stacked as f32.
class StackUpload {
 public:
  /// For `frames` frames at once.
  StackUpload(const Device& device, PixelType type, const Shape& frame, std::int64_t frames);

  /// At most as many frames; what lies behind them in pixels() is from earlier runs.
  void run(StageClock& clock, std::span<const HostImage> frames);
  [[nodiscard]] const Image& pixels() const { return pixels_; }

 private:
  void clear();

  Device device_;
  PixelType type_;
  Shape frame_;
  std::size_t frames_;
  ConvertPlan convert_;
  Image raw_, pixels_;
  std::optional<HostBuffer> staging_;  // for frames that do not lie one after the other
};

class PeakSearch {
 public:
  /// For `frames` frames at once.
  PeakSearch(const Device& device, PixelType type, const Shape& frame, std::int64_t frames,
             const WindowGrid& grid);

  [[nodiscard]] std::size_t frames() const { return frames_; }
  /// The peaks of all windows of `frames`, at most frames(); valid until the next call. Waits for
  /// the device.
  std::span<const PeakRecord> run(StageClock& clock, const WindowReference& reference,
                                  std::span<const HostImage> frames);
  /// The frames of the last run, f32 and stacked; what lies behind them is from earlier runs.
  [[nodiscard]] const Image& pixels() const { return upload_.pixels(); }
  /// The means of their windows.
  [[nodiscard]] const Buffer& means() const { return means_; }

 private:
  std::size_t frames_, windows_of_frame_;
  StackUpload upload_;
  WindowTransform transform_;
  WindowCrossPowerPlan power_;
  PeakPlan peak_;
  Image windows_, spectra_;
  Buffer means_, records_on_device_;
  std::vector<PeakRecord> records_;
};

/// The whole pixels of a shift at whose place the correlation of a window has its peak; none where
/// nothing correlates, or beyond `max_shift` along an axis.
[[nodiscard]] std::optional<WindowOrigin> shift_at(const PeakRecord& peak, const Shape& window,
                                                   double max_shift);

}  // namespace warpalign::detail
