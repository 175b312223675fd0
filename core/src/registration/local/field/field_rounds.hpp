// Measures the shifts of windows again, in frames from which a field has removed most of the
// motion.
#pragma once

#include "registration/local/field/field_coordinates.hpp"
#include "registration/local/windows/peak_search.hpp"
#include "registration/local/windows/window_fits.hpp"
#include "registration/local/windows/window_grid.hpp"

#include <warpalign/stages/resample.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// If motion varies within a window, the measured shift depends on where the window has texture.
/// Each round therefore resamples a frame through the field f fitted to its shifts, measures the
/// residual shift r of each window, and replaces the shift by (mean of f over the window) + r. As
/// the motion that remains hardly varies within a window, the shift becomes the mean motion of the
/// window, whatever its texture.
class FieldRounds {
 public:
  FieldRounds(const Device& device, PixelType type, const Shape& frame, const WindowGrid& grid);

  /// Replaces the reliable shifts. `fits`, `shifts` and `means` have an entry for each window,
  /// frame by frame. The result of a frame does not depend on the other frames.
  void run(StageClock& clock, const WindowReference& reference, std::span<const HostImage> frames,
           const Buffer& means, std::span<const WindowFit> fits, std::span<WindowShift> shifts);

 private:
  struct Frame {
    bool active = true;                      ///< whether another round may change the shifts
    std::optional<DisplacementField> field;  ///< for the current round, if there is one
  };

  void fit_fields(std::span<const WindowShift> shifts);
  [[nodiscard]] std::optional<DisplacementField> fit_field(
      std::span<const WindowShift> shifts) const;
  /// Measures the windows of one frame once. Returns whether another round may change the shifts.
  bool measure(StageClock& clock, const WindowReference& reference, const HostImage& image,
               const DisplacementField& field, std::span<const float> means,
               std::span<const WindowFit> fits, std::span<WindowShift> shifts);
  void resample(StageClock& clock, const HostImage& image, const DisplacementField& field);

  Shape frame_;
  const WindowGrid& grid_;
  ResamplePlan resample_;
  FieldCoordinates coordinates_;
  Image raw_, pixels_;
  Buffer means_;
  WindowFits steps_;
  std::vector<Frame> frames_;
  std::vector<float> downloaded_means_;
  std::vector<WindowFit> fits_;  ///< for one frame
};

}  // namespace warpalign::detail
