// Detects outliers among the shifts of windows, and replaces them.
#include "registration/local/field/outliers.hpp"

#include "registration/local/field/local_trend.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// From Westerweel and Scarano: the fluctuation that is always accepted, in pixels, and the largest
// accepted residual in units of the neighbours' residuals.
constexpr double accepted_fluctuation = 0.1;
constexpr double max_residual = 2;
// An outlier affects the test of its neighbours, so the test is repeated without it.
constexpr int max_passes = 6;

// The smallest uncertainty of a shift, in pixels, which is due to interpolation and to the rounding
// of intensities.
constexpr double min_outlier_uncertainty = 1e-3;
// The uncertainty of the replacement for a missing shift, in pixels.
constexpr double replacement_uncertainty = 1;

bool is_within_limit(const std::optional<TrendResidual>& residual) {
  return !residual || residual->own <= max_residual * (residual->typical + accepted_fluctuation);
}

// If motion changes too much over five windows for a quadratic surface, a plane may fit over three
// windows. Several outliers among the eight neighbours would make the plane's test accept any
// shift, so the shift's residual must also be below the spread of the wider neighbourhood.
bool is_consistent(std::span<const WindowShift> shifts, const std::vector<bool>& accepted,
                   const ShiftGrid& grid, std::size_t window) {
  if (is_within_limit(residual_from_trend(shifts, accepted, grid, window, Trend::quadratic))) {
    return true;
  }
  const auto plane = residual_from_trend(shifts, accepted, grid, window, Trend::plane);
  if (!plane || !is_within_limit(plane)) return false;
  return plane->own <= spread_around(shifts, accepted, grid, window);
}

// The component-wise median of the known ones of the eight neighbours, if there are any.
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

// Fills each missing window with the median of its known neighbours, ring by ring.
std::vector<Point> fill_gaps(std::vector<std::optional<Point>> known, const ShiftGrid& grid) {
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

bool has_consistent_half(const std::vector<bool>& consistent, const ShiftGrid& grid,
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

// The windows with a changed neighbour, which must be tested again.
std::vector<bool> windows_near_changes(const std::vector<bool>& before,
                                       const std::vector<bool>& after, const ShiftGrid& grid) {
  std::vector<bool> near(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    grid.around(i, max_neighbour_distance,
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
  std::vector<bool> needs_test(shifts.size(), true);
  for (int pass = 0; pass < max_passes; ++pass) {
    std::vector<bool> next = accepted;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      if (needs_test[i]) next[i] = is_usable(shifts[i]) && is_consistent(shifts, accepted, grid, i);
    }
    if (next == accepted) break;
    needs_test = windows_near_changes(accepted, next, grid);
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
  const std::vector<Point> all = fill_gaps(std::move(known), grid);
  std::vector<WeightedShift> weighted;
  weighted.reserve(shifts.size());
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    // In a gap with neighbours on several sides, the spline interpolates better than a median.
    if (!consistent[i] && has_consistent_half(consistent, grid, i)) continue;
    const double deviation =
        consistent[i]
            ? std::hypot(std::max(shifts[i].uncertainty, min_outlier_uncertainty), further)
            : replacement_uncertainty;
    weighted.push_back({shifts[i].centre, all[i], 1 / (deviation * deviation)});
  }
  return weighted;
}

}  // namespace warpalign::detail
