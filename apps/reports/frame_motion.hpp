// What local registration finds between two frames.
#pragma once

#include <warpalign/local_motion.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::program {

/// The shifts of the windows, row by row, and the field through them.
struct FrameMotion {
  std::int64_t windows_x = 0;
  std::int64_t windows_y = 0;
  std::vector<WindowShift> shifts;
  std::vector<bool> outliers;              ///< those among the reliable ones
  std::optional<DisplacementField> field;  ///< none where no window is reliable

  [[nodiscard]] bool used(std::size_t window) const {
    return shifts[window].reliable && !outliers[window];
  }
  [[nodiscard]] std::size_t count_used() const;
  [[nodiscard]] std::size_t count_outliers() const;
  /// Whether there is a field, and at least one window of twenty counts for it: among many windows
  /// a few may agree by chance.
  [[nodiscard]] bool reliable() const;
};

/// The field in a few numbers, from a grid of 64 x 64 points over all of the frame.
struct FieldSummary {
  Point mean;               ///< displacement
  double spread = 0;        ///< the root mean square distance of the displacements from their mean
  double largest = 0;       ///< distance from the mean
  double rms = 0;           ///< of the differences between the used windows' shifts and the field
  double inside = 0;        ///< share of the points that are read inside of the frame
  double correlation = 0;   ///< the median of the used windows'
  double significance = 0;  ///< likewise
  double uncertainty = 0;   ///< likewise
};
/// `motion` has a field.
[[nodiscard]] FieldSummary summary_of(const FrameMotion& motion);

}  // namespace warpalign::program
