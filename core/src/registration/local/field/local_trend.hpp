// What the shifts around a window lead one to expect of it.
#pragma once

#include "registration/local/windows/shift_grid.hpp"

#include <warpalign/local_motion.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// How far a shift is from what its neighbours say, and how far these are from it themselves, in
/// pixels.
struct TrendResidual {
  double own = 0;
  double typical = 0;  ///< the median of the neighbours'
};

/// How far away the neighbours of a window are at most, in windows: at the grid's edges a block of
/// five is moved inwards.
constexpr std::size_t reach_of_trends = 4;

enum class Trend {
  quadratic,  ///< through the 24 neighbours of a block of five by five windows
  plane       ///< through the eight of three by three
};

/// Fits a surface by least absolute differences to the accepted shifts around a window,
/// itself left out. (Of a constant that is the median; but motion has slopes and curvature, and at
/// an edge all neighbours lie on one side.) None where there are too few neighbours.
[[nodiscard]] std::optional<TrendResidual> residual_from_trend(std::span<const WindowShift> shifts,
                                                               const std::vector<bool>& accepted,
                                                               const ShiftGrid& grid,
                                                               std::size_t window, Trend trend);

/// How much the accepted shifts of the 24 neighbours vary: the median of their distances from their
/// median, in pixels.
[[nodiscard]] double spread_around(std::span<const WindowShift> shifts,
                                   const std::vector<bool>& accepted, const ShiftGrid& grid,
                                   std::size_t window);

/// The median; 0 of nothing. Reorders the values.
[[nodiscard]] double median(std::span<double> values);

}  // namespace warpalign::detail
