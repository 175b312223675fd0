// Which windows' shifts can be believed, and what takes the place of the others.
#pragma once

#include "registration/local/windows/shift_grid.hpp"

#include <warpalign/local_motion.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Whether the shift of a window takes part at all: found reliably, with finite numbers.
[[nodiscard]] bool is_usable(const WindowShift& shift) noexcept;

/// The usable shifts that agree with those around them, by the normalised median test of
/// Westerweel and Scarano (Experiments in Fluids 39, 2005).
[[nodiscard]] std::vector<bool> consistent_shifts(std::span<const WindowShift> shifts,
                                                  const ShiftGrid& grid);

/// A shift, and how much it counts: the inverse of its variance.
struct WeightedShift {
  Point centre;
  Point shift;
  double weight = 1;
};

/// The consistent shifts, by their uncertainty and `further`, another one that all have, and where
/// these are too far away for a smooth curve to be continued between them, the median of the
/// nearest ones, with little weight. At least one must be consistent.
[[nodiscard]] std::vector<WeightedShift> weighted_shifts(std::span<const WindowShift> shifts,
                                                         const std::vector<bool>& consistent,
                                                         const ShiftGrid& grid, double further);

}  // namespace warpalign::detail
