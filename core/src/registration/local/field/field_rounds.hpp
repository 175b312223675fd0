// The shifts of windows once more, in frames from which the motion within windows is removed.
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

/// Where motion differs within a window, its one shift is that of the texture in it. So each frame
/// is resampled through the field f that its shifts make, the windows' rests r are measured there,
/// and (mean of f over the window) + r takes the place of the shift: what moves within a window
/// then hardly differs, and the shift is the mean motion of the window, whatever its texture.
class FieldRounds {
 public:
  FieldRounds(const Device& device, PixelType type, const Shape& frame, const WindowGrid& grid);

  /// `fits` and `shifts` are those of the windows of `frames`, one frame after the other; `means`
  /// are the frames' windows'. Replaces the reliable shifts. A frame's result does
  /// not depend on the other frames.
  void run(StageClock& clock, const WindowReference& reference, std::span<const HostImage> frames,
           const Buffer& means, std::span<const WindowFit> fits, std::span<WindowShift> shifts);

 private:
  struct Frame {
    bool pays = true;                        ///< another round may
    std::optional<DisplacementField> field;  ///< none where nothing is to be measured again
  };

  void find_fields(std::span<const WindowShift> shifts);
  [[nodiscard]] std::optional<DisplacementField> field_of(
      std::span<const WindowShift> shifts) const;
  /// One frame's windows, once. Returns whether another round may pay.
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
  std::vector<float> all_means_;
  std::vector<WindowFit> fits_;  ///< of one frame
};

}  // namespace warpalign::detail
