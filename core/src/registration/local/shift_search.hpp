// The shifts of all windows of a batch of frames, on the device.
#pragma once

#include "registration/local/window_fit.hpp"
#include "registration/local/window_grid.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/stages/convert.hpp>
#include <warpalign/stages/fft.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

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
  void forward(Stream& stream, const Image& frames, Buffer& means, Image& windows,
               Image& spectra) const;
  [[nodiscard]] const RealFftPlan& fft() const { return fft_; }

 private:
  CutWindowsPlan cut_;
  RealFftPlan fft_;
};

class ShiftSearch {
 public:
  /// For `frames` frames at once.
  ShiftSearch(const Device& device, PixelType type, const Shape& frame, std::int64_t frames,
              const WindowGrid& grid, double max_shift);

  [[nodiscard]] std::size_t frames() const { return frames_; }
  /// Appends the shifts of all windows of `frames`, at most frames(), to `result`.
  void run(Stream& stream, const WindowReference& reference, std::span<const HostImage> frames,
           std::vector<WindowShift>& result);

 private:
  void clear(const Device& on);
  void upload(Stream& stream, std::span<const HostImage> frames);
  void start_fits(std::span<const PeakRecord> peaks);
  void fit(Stream& stream, const WindowReference& reference);

  PixelType type_;
  Shape frame_;
  std::size_t frames_;
  const WindowGrid& grid_;
  double max_shift_;
  ConvertPlan convert_;
  WindowTransform transform_;
  WindowCrossPowerPlan power_;
  PeakPlan peak_;
  ShiftSumsPlan sums_;
  Image raw_, pixels_, windows_, spectra_;
  Buffer means_, records_on_device_;
  std::vector<char> staging_;
  std::vector<PeakRecord> records_;
  std::vector<WindowFit> fits_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;
};

}  // namespace warpalign::detail
