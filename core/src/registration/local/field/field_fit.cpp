// Fits a smooth field to scattered shifts by penalised least squares.
#include "registration/local/field/field_fit.hpp"

#include "device/check.hpp"
#include "registration/local/field/banded_matrix.hpp"
#include "registration/numerics/small_solver.hpp"

#include <algorithm>
#include <array>

namespace warpalign::detail {

namespace {

constexpr const char* stage = "displacement field";

// The weights of the penalty on slopes, relative to the roughness and to the shifts. They are so
// small that they matter only if the data do not determine a slope, such as along y for a single
// row of windows; then the field is flat. The second weight keeps the equations solvable in double
// precision.
constexpr double slope_per_roughness = 1e-6;
constexpr double slope_per_weight = 1e-11;

// A symmetric matrix over the control points of a tensor product of two axes, x fastest.
class TensorMatrix {
 public:
  // `reach`: the largest distance along an axis between control points that interact.
  TensorMatrix(const SplineAxis& x, const SplineAxis& y, std::size_t reach)
      : columns_(x.controls()),
        rows_(y.controls()),
        matrix_(columns_ * rows_, reach * columns_ + reach) {}

  void add_mean(const AxisMean& x, const AxisMean& y, double weight) {
    for (std::size_t i = 0; i < x.count * y.count; ++i) {
      const double one = weight * product(x, y, i);
      for (std::size_t j = 0; j <= i; ++j) {
        matrix_.at(index_of(x, y, i), index_of(x, y, j)) += one * product(x, y, j);
      }
    }
  }

  // Adds factor times the tensor product of two axes' matrices.
  void add_product(const GramMatrix& x, const GramMatrix& y, double factor) {
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t row_offset = 0; row_offset < 4 && row + row_offset < rows_; ++row_offset) {
        for (std::size_t column = 0; column < columns_; ++column) {
          const double entry = factor * y[row][row_offset];
          add_line(x, entry, row, row_offset, column);
        }
      }
    }
  }

  [[nodiscard]] BandedMatrix& matrix() { return matrix_; }

  [[nodiscard]] std::size_t index_of(const AxisMean& x, const AxisMean& y, std::size_t i) const {
    return (y.first + i / x.count) * columns_ + x.first + i % x.count;
  }
  [[nodiscard]] static double product(const AxisMean& x, const AxisMean& y, std::size_t i) {
    return x.weight[i % x.count] * y.weight[i / x.count];
  }

 private:
  void add_line(const GramMatrix& x, double entry, std::size_t row, std::size_t row_offset,
                std::size_t column) {
    const std::size_t here = row * columns_ + column;
    const std::size_t above = (row + row_offset) * columns_ + column;
    for (std::size_t right = 0; right < 4 && column + right < columns_; ++right) {
      const double value = entry * x[column][right];
      matrix_.at(above + right, here) += value;
      if (row_offset > 0 && right > 0) matrix_.at(above, here + right) += value;
    }
  }

  std::size_t columns_;
  std::size_t rows_;
  BandedMatrix matrix_;
};

void add_penalties(TensorMatrix& matrix, const SplineAxis& x, const SplineAxis& y,
                   const Point& unit, double roughness, double slope) {
  const GramMatrix x0 = gram_matrix(x, 0, unit.x);
  const GramMatrix y0 = gram_matrix(y, 0, unit.y);
  const GramMatrix x1 = gram_matrix(x, 1, unit.x);
  const GramMatrix y1 = gram_matrix(y, 1, unit.y);
  matrix.add_product(gram_matrix(x, 2, unit.x), y0, roughness);
  matrix.add_product(x1, y1, 2 * roughness);
  matrix.add_product(x0, gram_matrix(y, 2, unit.y), roughness);
  matrix.add_product(x1, y0, slope);
  matrix.add_product(x0, y1, slope);
}

double total_weight(std::span<const WeightedShift> shifts) {
  double sum = 0;
  for (const WeightedShift& shift : shifts) sum += shift.weight;
  return sum;
}

// The least squares plane through the shifts; the flattest one if it is not unique. Lengths are in
// units of the windows' distances, so that slopes have the magnitude of displacements.
class Plane {
 public:
  Plane(std::span<const WeightedShift> shifts, const Point& unit) : unit_(unit) {
    const double total = total_weight(shifts);
    for (const WeightedShift& shift : shifts) {
      centre_.x += shift.weight / total * shift.centre.x;
      centre_.y += shift.weight / total * shift.centre.y;
      mean_.x += shift.weight / total * shift.shift.x;
      mean_.y += shift.weight / total * shift.shift.y;
    }
    std::array<double, 4> matrix{slope_per_weight, 0, 0, slope_per_weight};
    std::array<double, 2> x{}, y{};
    for (const WeightedShift& shift : shifts) {
      const double weight = shift.weight / total;
      const std::array<double, 2> arm{(shift.centre.x - centre_.x) / unit.x,
                                      (shift.centre.y - centre_.y) / unit.y};
      for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) matrix[2 * i + j] += weight * arm[i] * arm[j];
        x[i] += weight * arm[i] * (shift.shift.x - mean_.x);
        y[i] += weight * arm[i] * (shift.shift.y - mean_.y);
      }
    }
    std::array<double, 4> matrix_copy = matrix;
    if (solve_symmetric(matrix, x)) slope_x_ = x;
    if (solve_symmetric(matrix_copy, y)) slope_y_ = y;
  }

  [[nodiscard]] Point at(const Point& point) const {
    const double x = (point.x - centre_.x) / unit_.x;
    const double y = (point.y - centre_.y) / unit_.y;
    return {mean_.x + slope_x_[0] * x + slope_x_[1] * y,
            mean_.y + slope_y_[0] * x + slope_y_[1] * y};
  }

 private:
  Point unit_, centre_, mean_;
  std::array<double, 2> slope_x_{}, slope_y_{};
};

// The control points of a plane are its values at their positions.
void add_plane(FieldControls& field, const Plane& plane, const SplineAxis& x, const SplineAxis& y) {
  for (std::size_t row = 0; row < y.controls(); ++row) {
    for (std::size_t column = 0; column < x.controls(); ++column) {
      const Point value = plane.at({x.position(column), y.position(row)});
      field.x[row * x.controls() + column] += value.x;
      field.y[row * x.controls() + column] += value.y;
    }
  }
}

struct WindowMeans {
  AxisMean x, y;
};

// Adds the shifts to the matrix. Returns the right-hand sides for the residuals from the plane.
FieldControls add_shifts(TensorMatrix& matrix, std::span<const WeightedShift> shifts,
                         std::span<const WindowMeans> means, const Plane& plane,
                         std::size_t controls) {
  FieldControls right{std::vector<double>(controls), std::vector<double>(controls)};
  for (std::size_t k = 0; k < shifts.size(); ++k) {
    const WeightedShift& shift = shifts[k];
    const auto& [x, y] = means[k];
    matrix.add_mean(x, y, shift.weight);
    const Point trend = plane.at(shift.centre);
    for (std::size_t i = 0; i < x.count * y.count; ++i) {
      const std::size_t index = matrix.index_of(x, y, i);
      const double weight = shift.weight * TensorMatrix::product(x, y, i);
      right.x[index] += weight * (shift.shift.x - trend.x);
      right.y[index] += weight * (shift.shift.y - trend.y);
    }
  }
  return right;
}

// Fits splines to lines of samples at 0, 1, 2 ... along one axis by least squares.
class LineFit {
 public:
  LineFit(const SplineAxis& axis, std::size_t pixels)
      : axis_(axis), pixels_(pixels), matrix_(axis.controls(), 3) {
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
      const AxisWeights at = weights_at(axis, static_cast<double>(pixel));
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          matrix_.at(at.first + i, at.first + j) += at.weight[i] * at.weight[j];
        }
      }
    }
    add_roughness();
    if (!matrix_.decompose()) refuse(stage, "the samples cannot be fitted at this spacing");
  }

  // Returns the control points for a line whose samples are sample(pixel).
  template <class Sample>
  [[nodiscard]] std::vector<double> fit(Sample&& sample) const {
    std::vector<double> controls(axis_.controls());
    for (std::size_t pixel = 0; pixel < pixels_; ++pixel) {
      const AxisWeights at = weights_at(axis_, static_cast<double>(pixel));
      const double value = sample(pixel);
      for (std::size_t i = 0; i < 4; ++i) controls[at.first + i] += at.weight[i] * value;
    }
    matrix_.solve(controls);
    return controls;
  }

 private:
  // If there are not enough pixels to determine all control points, this selects the smoothest
  // spline through the samples.
  void add_roughness() {
    const GramMatrix gram = gram_matrix(axis_, 2, axis_.spacing);
    for (std::size_t k = 0; k < gram.size(); ++k) {
      for (std::size_t offset = 0; offset < 4 && k + offset < gram.size(); ++offset) {
        matrix_.at(k + offset, k) += slope_per_weight * gram[k][offset];
      }
    }
    // A single pixel does not determine a slope.
    const GramMatrix slopes = gram_matrix(axis_, 1, axis_.spacing);
    if (pixels_ > 1) return;
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      for (std::size_t offset = 0; offset < 4 && k + offset < slopes.size(); ++offset) {
        matrix_.at(k + offset, k) += slope_per_weight * slopes[k][offset];
      }
    }
  }

  const SplineAxis& axis_;
  std::size_t pixels_;
  BandedMatrix matrix_;
};

}  // namespace

FieldControls fit_field(const SplineAxis& x, const SplineAxis& y,
                        std::span<const WeightedShift> shifts, const Point& window,
                        const Point& unit, double smoothness) {
  std::vector<WindowMeans> means;
  means.reserve(shifts.size());
  std::size_t reach = 3;  // of the roughness penalty
  for (const WeightedShift& shift : shifts) {
    means.push_back(
        {mean_about(x, shift.centre.x, window.x), mean_about(y, shift.centre.y, window.y)});
    reach = std::max({reach, means.back().x.count - 1, means.back().y.count - 1});
  }
  TensorMatrix matrix(x, y, reach);
  // Subtracting the plane makes linear motion exact, whatever the condition of the equations.
  const Plane plane(shifts, unit);
  FieldControls field = add_shifts(matrix, shifts, means, plane, x.controls() * y.controls());
  const double mean_weight = total_weight(shifts) / static_cast<double>(shifts.size());
  add_penalties(matrix, x, y, unit, smoothness,
                std::max(slope_per_roughness * smoothness, slope_per_weight * mean_weight));
  if (!matrix.matrix().decompose()) {
    refuse(stage,
           "the equations are ill-conditioned: the shifts' uncertainties differ too much, or the "
           "smoothness is too small");
  }
  matrix.matrix().solve(field.x);
  matrix.matrix().solve(field.y);
  add_plane(field, plane, x, y);
  return field;
}

std::vector<double> fit_samples(const SplineAxis& x, const SplineAxis& y,
                                std::span<const float> samples, std::size_t width) {
  const std::size_t height = samples.size() / width;
  const LineFit along_x(x, width);
  const LineFit along_y(y, height);
  const std::size_t columns = x.controls();
  std::vector<double> rows;
  rows.reserve(columns * height);
  for (std::size_t row = 0; row < height; ++row) {
    const auto line = along_x.fit([&](std::size_t i) { return samples[row * width + i]; });
    rows.insert(rows.end(), line.begin(), line.end());
  }
  std::vector<double> controls(columns * y.controls());
  for (std::size_t column = 0; column < columns; ++column) {
    const auto line = along_y.fit([&](std::size_t i) { return rows[i * columns + column]; });
    for (std::size_t i = 0; i < line.size(); ++i) controls[i * columns + column] = line[i];
  }
  return controls;
}

}  // namespace warpalign::detail
