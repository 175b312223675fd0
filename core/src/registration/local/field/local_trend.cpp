// Predicts the shift of a window from the shifts around it.
#include "registration/local/field/local_trend.hpp"

#include "registration/numerics/small_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

// Westerweel and Scarano use blocks of 3 x 3. If several of ten shifts are wrong, then often half
// of eight neighbours are wrong, but hardly ever half of 24.
constexpr std::size_t max_trend_side = 5;
constexpr std::size_t max_neighbours = max_trend_side * max_trend_side - 1;
constexpr std::size_t max_terms = 6;
// The minimum number of neighbours in excess of the number of terms, so that there are residuals.
constexpr std::size_t min_excess = 2;

// In pixels. The weights treat smaller differences as equal.
constexpr double small_difference = 0.01;
constexpr int max_iterations = 20;

using Terms = std::array<double, max_terms>;

struct Neighbour {
  Terms terms{};
  Point shift;
  double difference = 0;  ///< from the surface
  double weight = 1;
};

// The range of a block along one axis: centred on the window, or moved inwards at the grid's edges.
std::array<std::size_t, 2> range_around(std::size_t index, std::size_t count, std::size_t side) {
  const std::size_t size = std::min(side, count);
  const std::size_t wanted = index - std::min(index, side / 2);
  const std::size_t first = std::min(wanted, count - size);
  return {first, first + size - 1};
}

class Surface {
 public:
  Surface(std::span<const WindowShift> shifts, const std::vector<bool>& accepted,
          const ShiftGrid& grid, std::size_t window, std::size_t side)
      : columns_(range_around(window % grid.columns, grid.columns, side)),
        rows_(range_around(window / grid.columns, grid.rows, side)) {
    const std::size_t own_column = window % grid.columns;
    const std::size_t own_row = window / grid.columns;
    for (std::size_t row = rows_[0]; row <= rows_[1]; ++row) {
      for (std::size_t column = columns_[0]; column <= columns_[1]; ++column) {
        const std::size_t index = grid.index(column, row);
        if (index == window || !accepted[index]) continue;
        const double x = static_cast<double>(column) - static_cast<double>(own_column);
        const double y = static_cast<double>(row) - static_cast<double>(own_row);
        neighbours_[count_++] = {{1, x, y, x * x, x * y, y * y}, shifts[index].shift};
      }
    }
  }

  // The median distance of the neighbours' shifts from their component-wise median.
  [[nodiscard]] double spread() const {
    std::array<double, max_neighbours> x{}, y{};
    for (std::size_t i = 0; i < count_; ++i) {
      x[i] = neighbours_[i].shift.x;
      y[i] = neighbours_[i].shift.y;
    }
    const double median_x = median(std::span(x).first(count_));
    const double median_y = median(std::span(y).first(count_));
    for (std::size_t i = 0; i < count_; ++i) {
      x[i] = std::hypot(neighbours_[i].shift.x - median_x, neighbours_[i].shift.y - median_y);
    }
    return median(std::span(x).first(count_));
  }

  // Fits the surface's first `terms` terms. Returns false if the neighbours do not determine them.
  bool fit(std::size_t terms) {
    if (count_ < terms + min_excess) return false;
    for (std::size_t i = 0; i < count_; ++i) neighbours_[i].weight = 1;
    double before = 0;
    for (int iteration = 0; iteration < max_iterations; ++iteration) {
      if (!weighted_fit(terms)) return false;
      const double sum = reweight(terms);
      if (std::abs(sum - before) <= 1e-3 * sum) break;
      before = sum;
    }
    return true;
  }

  [[nodiscard]] TrendResidual residual(const Point& shift) const {
    std::array<double, max_neighbours> differences{};
    for (std::size_t i = 0; i < count_; ++i) differences[i] = neighbours_[i].difference;
    return {std::hypot(shift.x - x_[0], shift.y - y_[0]),
            median(std::span(differences).first(count_))};
  }

 private:
  bool weighted_fit(std::size_t terms) {
    std::array<double, max_terms * max_terms> matrix{};
    x_ = {};
    y_ = {};
    for (const Neighbour& one : std::span(neighbours_).first(count_)) {
      for (std::size_t i = 0; i < terms; ++i) {
        const double term = one.weight * one.terms[i];
        for (std::size_t j = 0; j < terms; ++j) matrix[i * terms + j] += term * one.terms[j];
        x_[i] += term * one.shift.x;
        y_[i] += term * one.shift.y;
      }
    }
    const auto used = std::span(matrix).first(terms * terms);
    std::array<double, max_terms* max_terms> matrix_copy = matrix;
    return solve_symmetric(used, std::span(x_).first(terms)) &&
           solve_symmetric(std::span(matrix_copy).first(terms * terms), std::span(y_).first(terms));
  }

  // Updates the weights for least absolute differences (iteratively reweighted least squares).
  // Returns the sum of the absolute differences.
  double reweight(std::size_t terms) {
    double sum = 0;
    for (Neighbour& one : std::span(neighbours_).first(count_)) {
      Point difference = one.shift;
      for (std::size_t i = 0; i < terms; ++i) {
        difference.x -= x_[i] * one.terms[i];
        difference.y -= y_[i] * one.terms[i];
      }
      one.difference = std::hypot(difference.x, difference.y);
      one.weight = 1 / std::max(one.difference, small_difference);
      sum += one.difference;
    }
    return sum;
  }

  std::array<std::size_t, 2> columns_, rows_;
  std::array<Neighbour, max_neighbours> neighbours_;
  std::size_t count_ = 0;
  Terms x_{}, y_{};
};

}  // namespace

std::optional<TrendResidual> residual_from_trend(std::span<const WindowShift> shifts,
                                                 const std::vector<bool>& accepted,
                                                 const ShiftGrid& grid, std::size_t window,
                                                 Trend trend) {
  const bool wide = trend == Trend::quadratic;
  Surface surface(shifts, accepted, grid, window, wide ? max_trend_side : 3);
  for (const std::size_t terms : {max_terms, std::size_t{3}, std::size_t{1}}) {
    if (terms == max_terms && !wide) continue;
    if (surface.fit(terms)) return surface.residual(shifts[window].shift);
  }
  return std::nullopt;
}

double spread_around(std::span<const WindowShift> shifts, const std::vector<bool>& accepted,
                     const ShiftGrid& grid, std::size_t window) {
  return Surface(shifts, accepted, grid, window, max_trend_side).spread();
}

double median(std::span<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double upper = *middle;
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), middle) + upper) / 2;
}

}  // namespace warpalign::detail
