// Detects outliers among the shifts of windows, and replaces them.
#pragma once

#include "registration/local/windows/shift_grid.hpp"

#include <warpalign/local_motion.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Whether the shift of a window is reliable and finite.
[[nodiscard]] bool is_usable(const WindowShift& shift) noexcept;

/// Marks the usable shifts that are consistent with those around them, by the normalised median
/// test of Westerweel and Scarano (Experiments in Fluids 39, 2005).
[[nodiscard]] std::vector<bool> consistent_shifts(std::span<const WindowShift> shifts,
                                                  const ShiftGrid& grid);

/// A shift, and its weight: the inverse of its variance.
struct WeightedShift {
  Point centre;
  Point shift;
  double weight = 1;
};

/// Weights the consistent shifts by their uncertainty combined with `further`, an additional
/// uncertainty that all of them have. In gaps that are too wide for a smooth curve, adds the median
/// of the nearest consistent shifts with a small weight. At least one shift must be consistent.
[[nodiscard]] std::vector<WeightedShift> weighted_shifts(std::span<const WindowShift> shifts,
                                                         const std::vector<bool>& consistent,
                                                         const ShiftGrid& grid, double further);

}  // namespace warpalign::detail
