// Which windows' shifts can be believed, and what takes the place of the others.
#include "registration/local/field/outliers.hpp"

#include "registration/local/field/local_trend.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// Westerweel and Scarano: fluctuations that are always accepted, in pixels, and the most that a
// shift may differ, in units of how its neighbours differ among each other.
constexpr double accepted_fluctuation = 0.1;
constexpr double max_residual = 2;
// An outlier counts among its neighbours' neighbours, so that the test is repeated without it.
constexpr int max_passes = 6;

// No window's shift is known better than what interpolation and the grey levels' rounding do to it.
constexpr double min_uncertainty = 1e-3;
// Of what stands in for a missing shift: so little is known of it, in pixels.
constexpr double stand_in_uncertainty = 1;

bool is_near(const std::optional<TrendResidual>& residual) {
  return !residual || residual->own <= max_residual * (residual->typical + accepted_fluctuation);
}

// Where motion changes much within five windows, a quadratic surface does not follow it, but within
// three windows a plane may. Several outliers among eight neighbours would make these agree with
// anything; but then the shift differs more than the motion does in a wider neighbourhood.
bool agrees(std::span<const WindowShift> shifts, const std::vector<bool>& accepted,
            const ShiftGrid& grid, std::size_t window) {
  if (is_near(residual_from_trend(shifts, accepted, grid, window, Trend::quadratic))) return true;
  const auto plane = residual_from_trend(shifts, accepted, grid, window, Trend::plane);
  if (!plane || !is_near(plane)) return false;
  return plane->own <= spread_around(shifts, accepted, grid, window);
}

// The component-wise median of the eight neighbours that are known; none where none is.
std::optional<Point> median_around(const std::vector<std::optional<Point>>& known,
                                   const ShiftGrid& grid, std::size_t window) {
  std::vector<double> x, y;
  grid.around(window, 1, [&](std::size_t column, std::size_t row) {
    const std::optional<Point>& point = known[grid.index(column, row)];
    if (!point) return;
    x.push_back(point->x);
    y.push_back(point->y);
  });
  if (x.empty()) return std::nullopt;
  return Point{median(x), median(y)};
}

// Every place gets the median of what is known around it, ring by ring from what is known.
std::vector<Point> filled(std::vector<std::optional<Point>> known, const ShiftGrid& grid) {
  bool missing = true;
  while (missing) {
    missing = false;
    const std::vector<std::optional<Point>> before = known;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (before[i]) continue;
      known[i] = median_around(before, grid, i);
      missing = missing || !known[i];
    }
  }
  std::vector<Point> all;
  all.reserve(known.size());
  for (const std::optional<Point>& point : known) all.push_back(*point);
  return all;
}

bool half_around_is(const std::vector<bool>& consistent, const ShiftGrid& grid,
                    std::size_t window) {
  std::size_t all = 0;
  std::size_t good = 0;
  grid.around(window, 1, [&](std::size_t column, std::size_t row) {
    const std::size_t index = grid.index(column, row);
    if (index == window) return;
    ++all;
    good += consistent[index] ? 1 : 0;
  });
  return 2 * good >= all;
}

// Windows whose neighbours are no longer the same, so that they must be judged again.
std::vector<bool> near_changes(const std::vector<bool>& before, const std::vector<bool>& after,
                               const ShiftGrid& grid) {
  std::vector<bool> near(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    grid.around(i, reach_of_trends,
                [&](std::size_t column, std::size_t row) { near[grid.index(column, row)] = true; });
  }
  return near;
}

}  // namespace

bool is_usable(const WindowShift& shift) noexcept {
  return shift.reliable && std::isfinite(shift.shift.x) && std::isfinite(shift.shift.y) &&
         std::isfinite(shift.uncertainty) && shift.uncertainty >= 0;
}

std::vector<bool> consistent_shifts(std::span<const WindowShift> shifts, const ShiftGrid& grid) {
  std::vector<bool> accepted(shifts.size());
  for (std::size_t i = 0; i < shifts.size(); ++i) accepted[i] = is_usable(shifts[i]);
  std::vector<bool> is_open(shifts.size(), true);
  for (int pass = 0; pass < max_passes; ++pass) {
    std::vector<bool> next = accepted;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      if (is_open[i]) next[i] = is_usable(shifts[i]) && agrees(shifts, accepted, grid, i);
    }
    if (next == accepted) break;
    is_open = near_changes(accepted, next, grid);
    accepted = std::move(next);
  }
  return accepted;
}

std::vector<WeightedShift> weighted_shifts(std::span<const WindowShift> shifts,
                                           const std::vector<bool>& consistent,
                                           const ShiftGrid& grid, double further) {
  std::vector<std::optional<Point>> known(shifts.size());
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (consistent[i]) known[i] = shifts[i].shift;
  }
  const std::vector<Point> all = filled(std::move(known), grid);
  std::vector<WeightedShift> weighted;
  weighted.reserve(shifts.size());
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    // The spline goes smoothly through a gap with neighbours on several sides, better than a
    // median.
    if (!consistent[i] && half_around_is(consistent, grid, i)) continue;
    const double deviation =
        consistent[i] ? std::hypot(std::max(shifts[i].uncertainty, min_uncertainty), further)
                      : stand_in_uncertainty;
    weighted.push_back({shifts[i].centre, all[i], 1 / (deviation * deviation)});
  }
  return weighted;
}

}  // namespace warpalign::detail
