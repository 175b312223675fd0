// Predicts the shift of a window from the shifts around it.
#pragma once

#include "registration/local/windows/shift_grid.hpp"

#include <warpalign/local_motion.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Distances from a surface fitted to the neighbours of a window, in pixels: that of the window's
/// own shift, and the typical one of the neighbours' shifts.
struct TrendResidual {
  double own = 0;
  double typical = 0;  ///< the median over the neighbours
};

/// The largest distance of a window's neighbours, in windows. It is 4 because blocks of 5 x 5 are
/// moved inwards at the grid's edges.
constexpr std::size_t max_neighbour_distance = 4;

enum class Trend {
  quadratic,  ///< fitted to the 24 neighbours in a block of 5 x 5 windows
  plane       ///< fitted to the 8 neighbours in a block of 3 x 3
};

/// Fits a surface by least absolute differences to the accepted shifts around a window, excluding
/// the window itself. For a constant surface this would be the median; but motion has slopes and
/// curvature, and at an edge all neighbours lie on one side. Returns nothing if there are too few
/// neighbours.
[[nodiscard]] std::optional<TrendResidual> residual_from_trend(std::span<const WindowShift> shifts,
                                                               const std::vector<bool>& accepted,
                                                               const ShiftGrid& grid,
                                                               std::size_t window, Trend trend);

/// The spread of the accepted shifts of the 24 neighbours: the median of their distances from their
/// median, in pixels.
[[nodiscard]] double spread_around(std::span<const WindowShift> shifts,
                                   const std::vector<bool>& accepted, const ShiftGrid& grid,
                                   std::size_t window);

/// The median, or 0 if there are no values. Reorders the values.
[[nodiscard]] double median(std::span<double> values);

}  // namespace warpalign::detail
