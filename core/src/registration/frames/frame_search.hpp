// The shifts of a batch of frames, each taken as a whole.
#pragma once

#include "registration/frames/lighting.hpp"
#include "registration/local/windows/peak_search.hpp"
#include "registration/local/windows/window_fit.hpp"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// The whole frame as its only window.
[[nodiscard]] WindowGrid whole_frame(const Shape& frame);

/// What is kept of a reference.
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
  bool evenly_lit = false;
};

/// Correlation of apodized frames and a fit from its peak, as for windows; but the sums of the fit
/// are those of the frame's cells, which tell whether it is lit like the reference everywhere.
class FrameSearch {
 public:
  /// For `frames` frames at once.
  FrameSearch(const Device& device, PixelType type, const Shape& frame, std::int64_t frames,
              double max_shift);

  [[nodiscard]] std::size_t frames() const { return peaks_.frames(); }
  /// The shifts of `frames`, at most frames(); valid until the next call. Waits for the device.
  std::span<const FrameShift> run(StageClock& clock, const FrameReference& reference,
                                  std::span<const HostImage> frames);
  /// The frames of the last run, f32 and stacked; what lies behind them is from earlier runs.
  [[nodiscard]] const Image& pixels() const { return peaks_.pixels(); }

 private:
  void start_fits(std::span<const PeakRecord> peaks);
  void evaluate(StageClock& clock, const FrameReference& reference);
  void look_at_light(StageClock& clock);

  Shape frame_;
  WindowGrid grid_;
  std::vector<FrameCell> cells_;
  double max_shift_;
  PeakSearch peaks_;
  ShiftSumsPlan sums_;
  std::vector<WindowFit> fits_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;   // of frames
  std::vector<ShiftSums> of_cells_;  // of their last evaluations
  std::vector<FrameShift> found_;
};

}  // namespace warpalign::detail
