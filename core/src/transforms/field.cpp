// Displacements on a grid, and their interpolation.
#include "transforms/field.hpp"

#include "transforms/bspline_filter.hpp"
#include "transforms/matrices.hpp"
#include "transforms/refuse.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace warpalign::detail {

namespace {

constexpr std::int64_t max_extent = std::int64_t{1} << 30;
// Points of a grid in world coordinates have rounding errors of this order in indices.
constexpr double index_rounding = 1e-9;

/// The samples along one axis that contribute to a value, with their weights and the derivatives of
/// these.
struct Taps {
  std::array<std::size_t, 4> offset{};  // in points of the grid
  std::array<double, 4> weight{};
  std::array<double, 4> slope{};
  std::size_t count = 0;
};

/// The values of a field and its layout, for one type and number of dimensions.
template <class Value, std::size_t dimensions>
struct FieldView {
  const Value* values;
  FieldBasis basis;
  std::array<std::size_t, 3> extent, first, last;

  [[nodiscard]] std::size_t stride(std::size_t axis) const {
    return axis == 0 ? 1 : axis == 1 ? extent[0] : extent[0] * extent[1];
  }

  /// Moves an index coordinate to the defined range, and returns whether it was there. NaN becomes
  /// the first index.
  bool clamp(double& t, std::size_t axis) const {
    const auto low = static_cast<double>(first[axis]);
    const auto high = static_cast<double>(last[axis]);
    if (!(t >= low)) {
      const bool inside = t >= low - index_rounding;
      t = low;
      return inside;
    }
    if (t > high) {
      const bool inside = t <= high + index_rounding;
      t = high;
      return inside;
    }
    return true;
  }

  /// The lower index of the cell that contains t.
  [[nodiscard]] std::size_t cell_of(double t, std::size_t axis) const {
    const auto i = static_cast<std::size_t>(t);
    return i == last[axis] && i > first[axis] ? i - 1 : i;
  }

  /// Linear interpolation between two samples. `constant`: outside of the grid along this axis.
  [[nodiscard]] Taps linear_taps(std::size_t i, double fraction, std::size_t axis, bool constant,
                                 CellBoundary boundary) const {
    const std::size_t step = stride(axis);
    if (first[axis] == last[axis]) return {{i * step}, {1}, {0}, 1};
    const double slope = constant ? 0 : 1;
    if (boundary == CellBoundary::mean && !constant) {
      const std::size_t node = fraction < index_rounding       ? i
                               : fraction > 1 - index_rounding ? i + 1
                                                               : 0;
      if (node > first[axis] && node < last[axis]) {
        return {{(node - 1) * step, node * step, (node + 1) * step}, {0, 1, 0}, {-0.5, 0, 0.5}, 3};
      }
    }
    return {{i * step, (i + 1) * step}, {1 - fraction, fraction}, {-slope, slope}, 2};
  }

  /// The index of the coefficient i, mirrored at the edges of the grid for interpolated samples.
  [[nodiscard]] std::size_t mirrored(std::ptrdiff_t i, std::size_t axis) const {
    const auto n = static_cast<std::ptrdiff_t>(extent[axis]);
    if (n == 1) return 0;
    if (i < 0) i = -i;
    const std::ptrdiff_t period = 2 * (n - 1);
    i %= period;
    return static_cast<std::size_t>(i < n ? i : period - i);
  }

  [[nodiscard]] Taps cubic_taps(std::size_t i, double f, std::size_t axis, bool constant) const {
    const double g = 1 - f;
    Taps taps;
    taps.count = 4;
    taps.weight = {g * g * g / 6, (4 - 3 * f * f * (2 - f)) / 6, (4 - 3 * g * g * (2 - g)) / 6,
                   f * f * f / 6};
    if (!constant) {
      taps.slope = {-g * g / 2, (3 * f * f - 4 * f) / 2, (4 * g - 3 * g * g) / 2, f * f / 2};
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const auto index = static_cast<std::ptrdiff_t>(i + k) - 1;
      taps.offset[k] = mirrored(index, axis) * stride(axis);
    }
    return taps;
  }

  [[nodiscard]] Taps taps_of(std::size_t i, double fraction, std::size_t axis, bool constant,
                             CellBoundary boundary) const {
    return basis == FieldBasis::linear ? linear_taps(i, fraction, axis, constant, boundary)
                                       : cubic_taps(i, fraction, axis, constant);
  }

  /// Calls use(value, weight along x, y, z) for the taps of all axes, where the weights are
  /// pointers to {weight, slope}.
  template <class Use>
  void for_each_tap(const std::array<Taps, 3>& taps, const Use& use) const {
    const std::size_t planes = dimensions == 3 ? taps[2].count : 1;
    for (std::size_t k = 0; k < planes; ++k) {
      for (std::size_t j = 0; j < taps[1].count; ++j) {
        for (std::size_t i = 0; i < taps[0].count; ++i) {
          const std::size_t at =
              taps[0].offset[i] + taps[1].offset[j] + (dimensions == 3 ? taps[2].offset[k] : 0);
          use(values + at * dimensions, i, j, k);
        }
      }
    }
  }

  /// The value at index coordinates. Returns whether they are inside.
  bool value_at(Vector3 t, Vector3& value) const {
    bool inside = true;
    for (std::size_t a = 0; a < dimensions; ++a) inside &= clamp(t[a], a);
    if (basis == FieldBasis::linear) {
      linear_value(t, value);
    } else {
      cubic_value(t, value);
    }
    return inside;
  }

  void linear_value(const Vector3& t, Vector3& value) const {
    std::array<std::size_t, dimensions> next{};
    std::array<double, dimensions> f{};
    const Value* at = values;
    for (std::size_t a = 0; a < dimensions; ++a) {
      const std::size_t i = cell_of(t[a], a);
      f[a] = t[a] - static_cast<double>(i);
      next[a] = first[a] == last[a] ? 0 : stride(a) * dimensions;
      at += i * stride(a) * dimensions;
    }
    const auto along_x = [&](const Value* v, std::size_t c) {
      const auto low = static_cast<double>(v[c]);
      return low + f[0] * (static_cast<double>(v[next[0] + c]) - low);
    };
    const auto along_xy = [&](const Value* v, std::size_t c) {
      const double low = along_x(v, c);
      return low + f[1] * (along_x(v + next[1], c) - low);
    };
    for (std::size_t c = 0; c < dimensions; ++c) {
      value[c] = along_xy(at, c);
      if constexpr (dimensions == 3) {
        value[c] += f[2] * (along_xy(at + next[2], c) - value[c]);
      }
    }
  }

  void cubic_value(const Vector3& t, Vector3& value) const {
    std::array<Taps, 3> taps;
    for (std::size_t a = 0; a < dimensions; ++a) {
      const std::size_t i = cell_of(t[a], a);
      taps[a] = cubic_taps(i, t[a] - static_cast<double>(i), a, true);
    }
    value = {};
    for_each_tap(taps, [&](const Value* v, std::size_t i, std::size_t j, std::size_t k) {
      double weight = taps[0].weight[i] * taps[1].weight[j];
      if constexpr (dimensions == 3) weight *= taps[2].weight[k];
      for (std::size_t c = 0; c < dimensions; ++c) value[c] += weight * static_cast<double>(v[c]);
    });
  }

  /// The value, and the derivatives of its components by the indices, row by row.
  void with_derivatives(const std::array<Taps, 3>& taps, Vector3& value,
                        Matrix3& derivatives) const {
    value = {};
    derivatives = {};
    for_each_tap(taps, [&](const Value* v, std::size_t i, std::size_t j, std::size_t k) {
      const double wx = taps[0].weight[i];
      const double wy = taps[1].weight[j];
      const double wz = dimensions == 3 ? taps[2].weight[k] : 1;
      const double sx = taps[0].slope[i] * wy * wz;
      const double sy = wx * taps[1].slope[j] * wz;
      const double sz = dimensions == 3 ? wx * wy * taps[2].slope[k] : 0;
      for (std::size_t c = 0; c < dimensions; ++c) {
        const auto u = static_cast<double>(v[c]);
        value[c] += wx * wy * wz * u;
        derivatives[3 * c] += sx * u;
        derivatives[3 * c + 1] += sy * u;
        derivatives[3 * c + 2] += sz * u;
      }
    });
  }

  void derivatives_at(Vector3 t, CellBoundary boundary, Vector3& value,
                      Matrix3& derivatives) const {
    std::array<Taps, 3> taps;
    for (std::size_t a = 0; a < dimensions; ++a) {
      const bool constant = !clamp(t[a], a);
      const std::size_t i = cell_of(t[a], a);
      taps[a] = taps_of(i, t[a] - static_cast<double>(i), a, constant, boundary);
    }
    with_derivatives(taps, value, derivatives);
  }

  void derivatives_in_cell(const std::array<std::size_t, 3>& index, const Vector3& fractions,
                           Matrix3& derivatives) const {
    std::array<Taps, 3> taps;
    for (std::size_t a = 0; a < dimensions; ++a) {
      taps[a] = taps_of(index[a], fractions[a], a, false, CellBoundary::one_cell);
    }
    Vector3 value{};
    with_derivatives(taps, value, derivatives);
  }

  /// The largest absolute differences of neighbours among the values that a cell depends on:
  /// derivatives within it are weighted means of these differences.
  void largest_differences(const std::array<std::size_t, 3>& index, Matrix3& largest) const {
    largest = {};
    const bool wide = basis != FieldBasis::linear;
    std::array<std::array<std::size_t, 4>, 3> at{};
    std::array<std::size_t, 3> count{1, 1, 1};
    for (std::size_t a = 0; a < dimensions; ++a) {
      count[a] = wide ? 4 : first[a] == last[a] ? 1 : 2;
      for (std::size_t k = 0; k < count[a]; ++k) {
        const auto i = static_cast<std::ptrdiff_t>(index[a] + k) - (wide ? 1 : 0);
        at[a][k] = mirrored(i, a) * stride(a) * dimensions;
      }
    }
    for (std::size_t k = 0; k < count[2]; ++k) {
      for (std::size_t j = 0; j < count[1]; ++j) {
        for (std::size_t i = 0; i < count[0]; ++i) {
          const Value* v = values + at[0][i] + at[1][j] + at[2][k];
          const auto compare = [&](std::size_t axis, const Value* next) {
            for (std::size_t c = 0; c < dimensions; ++c) {
              double& most = largest[3 * c + axis];
              most = std::max(most,
                              std::abs(static_cast<double>(next[c]) - static_cast<double>(v[c])));
            }
          };
          if (i + 1 < count[0]) compare(0, values + at[0][i + 1] + at[1][j] + at[2][k]);
          if (j + 1 < count[1]) compare(1, values + at[0][i] + at[1][j + 1] + at[2][k]);
          if (k + 1 < count[2]) compare(2, values + at[0][i] + at[1][j] + at[2][k + 1]);
        }
      }
    }
  }
};

std::size_t points_in(const std::array<std::size_t, 3>& extent) {
  return extent[0] * extent[1] * extent[2];
}

void check_samples(const FieldSamples& samples, std::size_t expected) {
  std::visit(
      [&](const auto& values) {
        if (values.size() != expected)
          refuse_transform("a field has another number of samples than its grid");
        if (!std::all_of(values.begin(), values.end(), [](auto v) { return std::isfinite(v); })) {
          refuse_transform("a displacement field contains NaN or infinity");
        }
      },
      samples);
}

}  // namespace

void check_grid(int dimensions, const PointGrid& grid) {
  if (dimensions != 2 && dimensions != 3) {
    refuse_transform("a field has 2 or 3 components, one for each axis, not " +
                     std::to_string(dimensions));
  }
  const Shape& s = grid.shape;
  for (const std::int64_t extent : {s.width, s.height, s.depth}) {
    if (extent < 1 || extent > max_extent) {
      refuse_transform("a grid of " + to_string(s) + " points: every extent must be 1 to 2^30");
    }
  }
  if (static_cast<double>(s.width) * static_cast<double>(s.height) * static_cast<double>(s.depth) >
      static_cast<double>(std::int64_t{1} << 40)) {
    refuse_transform("a grid of " + to_string(s) + " points is too large");
  }
  if (dimensions == 2 && s.depth != 1)
    refuse_transform("the grid of a transform of the plane has depth 1");
  for (const double spacing : {grid.spacing.x, grid.spacing.y, grid.spacing.z}) {
    if (!(spacing > 0) || !std::isfinite(spacing)) {
      refuse_transform("the spacing of a grid must be above 0 and finite");
    }
  }
  const HomogeneousMatrix matrix = grid.index_to_point();
  check_matrix(TransformKind::affine, 3, matrix);
  if (dimensions == 2) {
    const auto& d = grid.direction;
    if (d[2] != 0 || d[5] != 0 || d[6] != 0 || d[7] != 0 || d[8] != 1 || grid.origin.z != 0 ||
        grid.spacing.z != 1) {
      refuse_transform("the grid of a transform of the plane must keep z");
    }
  }
  static_cast<void>(inverse_of(matrix));
}

Field::Field(int dimensions, const PointGrid& grid, FieldBasis basis, FieldSamples samples)
    : dimensions_(dimensions), grid_(grid), basis_(basis), samples_(std::move(samples)) {
  check_grid(dimensions, grid);
  extent_ = {static_cast<std::size_t>(grid.shape.width),
             static_cast<std::size_t>(grid.shape.height),
             static_cast<std::size_t>(grid.shape.depth)};
  check_samples(samples_, points_in(extent_) * static_cast<std::size_t>(dimensions));
  for (std::size_t a = 0; a < 3; ++a) last_[a] = extent_[a] - 1;
  if (basis == FieldBasis::coefficients) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      if (extent_[a] < 4)
        refuse_transform("a cubic B-spline has at least 4 coefficients along each axis");
      first_[a] = 1;
      --last_[a];
    }
  }
  index_to_point_ = grid.index_to_point();
  point_to_index_ = inverse_of(index_to_point_);
  indices_are_points_ = index_to_point_.m == HomogeneousMatrix().m;
  if (basis == FieldBasis::interpolated) {
    coefficients_ = std::visit(
        [](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
        samples_);
    filter_bspline(coefficients_, extent_, static_cast<std::size_t>(dimensions));
  }
}

std::variant<std::span<const float>, std::span<const double>> Field::values() const {
  if (basis_ == FieldBasis::interpolated) return std::span<const double>(coefficients_);
  return std::visit(
      [](const auto& values) -> std::variant<std::span<const float>, std::span<const double>> {
        return std::span(values.data(), values.size());
      },
      samples_);
}

template <class Function>
decltype(auto) Field::with_values(const Function& function) const {
  const auto call = [&]<class Value>(const Value* values) {
    if (dimensions_ == 2) {
      return function(FieldView<Value, 2>{values, basis_, extent_, first_, last_});
    }
    return function(FieldView<Value, 3>{values, basis_, extent_, first_, last_});
  };
  if (basis_ == FieldBasis::interpolated) return call(coefficients_.data());
  return std::visit([&](const auto& values) { return call(values.data()); }, samples_);
}

namespace {

Vector3 mapped(const HomogeneousMatrix& affine, const Vector3& p) {
  const auto& m = affine.m;
  return {m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3],
          m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7],
          m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11]};
}

}  // namespace

Vector3 Field::index_of(const Vector3& point) const {
  return indices_are_points_ ? point : mapped(point_to_index_, point);
}

Vector3 Field::point_of(const Vector3& index) const {
  return indices_are_points_ ? index : mapped(index_to_point_, index);
}

void Field::displace(std::span<double* const> points, std::size_t count,
                     OutsideField outside) const {
  with_values([&](const auto& view) {
    const auto axes = static_cast<std::size_t>(dimensions_);
    for (std::size_t i = 0; i < count; ++i) {
      Vector3 p{};
      for (std::size_t a = 0; a < axes; ++a) p[a] = points[a][i];
      Vector3 u{};
      const bool inside = view.value_at(index_of(p), u);
      if (!inside && outside != OutsideField::edge) {
        const double fill =
            outside == OutsideField::nan ? std::numeric_limits<double>::quiet_NaN() : 0;
        u = {fill, fill, fill};
      }
      for (std::size_t a = 0; a < axes; ++a) points[a][i] = p[a] + u[a];
    }
  });
}

namespace {

/// I + D A for the derivatives D by the indices and the matrix A from points to indices.
Matrix3 jacobian_of(const Matrix3& derivatives, const HomogeneousMatrix& to_index,
                    std::size_t dimensions) {
  Matrix3 result{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (std::size_t row = 0; row < dimensions; ++row) {
    for (std::size_t column = 0; column < dimensions; ++column) {
      for (std::size_t k = 0; k < dimensions; ++k) {
        result[3 * row + column] += derivatives[3 * row + k] * to_index.m[4 * k + column];
      }
    }
  }
  return result;
}

}  // namespace

Matrix3 Field::displace(Vector3& point, CellBoundary boundary) const {
  Vector3 value{};
  Matrix3 derivatives{};
  with_values([&](const auto& view) {
    view.derivatives_at(index_of(point), boundary, value, derivatives);
  });
  for (std::size_t a = 0; a < 3; ++a) point[a] += value[a];
  return jacobian_of(derivatives, point_to_index_, static_cast<std::size_t>(dimensions_));
}

double Field::determinant_in_cell(const std::array<std::size_t, 3>& index,
                                  const Vector3& fractions) const {
  Matrix3 derivatives{};
  with_values([&](const auto& view) { view.derivatives_in_cell(index, fractions, derivatives); });
  return determinant(
      jacobian_of(derivatives, point_to_index_, static_cast<std::size_t>(dimensions_)));
}

double Field::derivative_bound(const std::array<std::size_t, 3>& index) const {
  Matrix3 largest{};
  with_values([&](const auto& view) { view.largest_differences(index, largest); });
  // Displacements in units of indices: |A| times the differences.
  double bound = 0;
  for (std::size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double factor = std::abs(point_to_index_.m[4 * row + k]);
      for (std::size_t axis = 0; axis < 3; ++axis) sum += factor * largest[3 * k + axis];
    }
    bound = std::max(bound, sum);
  }
  return bound;
}

}  // namespace warpalign::detail
