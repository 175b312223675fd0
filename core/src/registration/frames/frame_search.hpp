// Estimates the shifts of a batch of frames.
#pragma once

#include "registration/frames/even_illumination.hpp"
#include "registration/local/windows/peak_search.hpp"
#include "registration/local/windows/window_fit.hpp"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// A grid with one window, the whole frame.
[[nodiscard]] WindowGrid whole_frame(const Shape& frame);

/// The reference on the device, with its spectrum.
class FrameReference {
 public:
  FrameReference(const Device& device, const Shape& frame);
  void take(StageClock& clock, const HostImage& image);

  [[nodiscard]] const WindowReference& window() const { return window_; }

 private:
  PixelUpload upload_;
  WindowTransform transform_;
  WindowReference window_;
};

struct FrameShift {
  WindowShift found;
  bool even_illumination = false;
};

/// Correlates apodized frames with the reference and fits the shift from the peak, as for windows.
/// Unlike for windows, the fit sums over the cells of the frame separately, to detect uneven
/// illumination.
class FrameSearch {
 public:
  /// `frames`: the maximum number of frames in one call.
  FrameSearch(const Device& device, PixelType type, const Shape& frame, std::int64_t frames,
              double max_shift);

  [[nodiscard]] std::size_t frames() const { return peaks_.frames(); }
  /// Estimates the shifts of at most frames() frames. The result stays valid until the next call.
  /// Waits for the device.
  std::span<const FrameShift> run(StageClock& clock, const FrameReference& reference,
                                  std::span<const HostImage> frames);
  /// The stack of frames of the last run, f32. Entries beyond them are from earlier runs.
  [[nodiscard]] const Image& pixels() const { return peaks_.pixels(); }

 private:
  void start_fits(std::span<const PeakRecord> peaks);
  void evaluate(StageClock& clock, const FrameReference& reference);
  void check_illumination(StageClock& clock);

  Shape frame_;
  WindowGrid grid_;
  std::vector<FrameCell> cells_;
  double max_shift_;
  PeakSearch peaks_;
  ShiftSumsPlan sums_;
  std::vector<WindowFit> fits_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;    // for each frame
  std::vector<ShiftSums> cell_sums_;  // for each cell, from the frame's last evaluation
  std::vector<FrameShift> found_;
};

}  // namespace warpalign::detail
