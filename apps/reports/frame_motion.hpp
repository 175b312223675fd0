// The result of local registration between two frames.
#pragma once

#include <warpalign/local_motion.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::program {

/// The shifts of the windows, row by row, and the field fitted to them.
struct FrameMotion {
  std::int64_t windows_x = 0;
  std::int64_t windows_y = 0;
  std::vector<WindowShift> shifts;
  std::vector<bool> outliers;              ///< outliers among the reliable windows
  std::optional<DisplacementField> field;  ///< empty if no window is reliable

  [[nodiscard]] bool used(std::size_t window) const {
    return shifts[window].reliable && !outliers[window];
  }
  [[nodiscard]] std::size_t count_used() const;
  [[nodiscard]] std::size_t count_outliers() const;
  /// Whether there is a field and at least one window of twenty is used for it. Among many windows
  /// a few may agree by chance.
  [[nodiscard]] bool reliable() const;
};

/// Statistics of the field, from a grid of 64 x 64 points over the frame.
struct FieldSummary {
  Point mean;               ///< displacement
  double spread = 0;        ///< root mean square distance of the displacements from their mean
  double largest = 0;       ///< largest distance from the mean
  double rms = 0;           ///< of the differences between the used windows' shifts and the field
  double inside = 0;        ///< fraction of points that map inside the frame
  double correlation = 0;   ///< median over the used windows
  double significance = 0;  ///< median over the used windows
  double uncertainty = 0;   ///< median over the used windows
};
/// Computes the statistics. `motion` must have a field.
[[nodiscard]] FieldSummary summary_of(const FrameMotion& motion);

}  // namespace warpalign::program
