// Correlates the windows of a batch of frames with those of the reference and locates the peaks.
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

/// The sigma of the Gaussian weight of the cross-power spectrum, in units of the Nyquist frequency.
/// Noise dominates the highest frequencies.
inline constexpr float correlation_sigma = 0.5F;

/// The reference on the device, with the spectra of its windows.
struct WindowReference {
  WindowReference(const Device& device, const Shape& frame, const WindowGrid& grid);
  Image pixels;   ///< f32
  Image windows;  ///< apodized; not needed after the transform to spectra
  Image spectra;
  Buffer means;  ///< of the windows
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

/// Uploads images of one shape to the device and converts them to f32. Keeps the memory and the
/// plan for the next image of the same type.
class PixelUpload {
 public:
  PixelUpload(const Device& device, const Shape& shape) : device_(device), shape_(shape) {}
  void run(Stream& stream, const HostImage& image, Image& pixels);

 private:
  Device device_;
  Shape shape_;
  std::optional<Image> raw_;  ///< of the last type other than f32
  std::optional<ConvertPlan> convert_;
};

/// Uploads frames of one type and shape to the device as a stack of f32.
class StackUpload {
 public:
  /// `frames`: the maximum number of frames in one run.
  StackUpload(const Device& device, PixelType type, const Shape& frame, std::int64_t frames);

  /// Uploads the frames. Entries of pixels() beyond them are from earlier runs.
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
  std::optional<HostBuffer> staging_;  // for frames that are not contiguous in memory
};

class PeakSearch {
 public:
  /// `frames`: the maximum number of frames in one run.
  PeakSearch(const Device& device, PixelType type, const Shape& frame, std::int64_t frames,
             const WindowGrid& grid);

  [[nodiscard]] std::size_t frames() const { return frames_; }
  /// Locates the peaks of all windows of at most frames() frames. The result stays valid until the
  /// next call. Waits for the device.
  std::span<const PeakRecord> run(StageClock& clock, const WindowReference& reference,
                                  std::span<const HostImage> frames);
  /// The stack of frames of the last run, f32. Entries beyond them are from earlier runs.
  [[nodiscard]] const Image& pixels() const { return upload_.pixels(); }
  /// The means of the frames' windows.
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

/// The shift in whole pixels at the peak of a window's correlation. Returns nothing if the peak is
/// not positive, or the shift exceeds `max_shift` along an axis.
[[nodiscard]] std::optional<WindowOrigin> shift_at(const PeakRecord& peak, const Shape& window,
                                                   double max_shift);

}  // namespace warpalign::detail
