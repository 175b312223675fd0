// The inverse of a displacement field, point by point.
#include "transforms/field_inverse.hpp"

#include "device/lanes.hpp"
#include "transforms/fold_message.hpp"
#include "transforms/newton_inverse.hpp"
#include "transforms/refuse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace warpalign::detail {

namespace {

// Of the grid's smallest spacing.
constexpr double tolerance = 1e-10;
constexpr int max_fixed_point_steps = 400;
constexpr std::size_t max_sample = 32768;

/// The field's map, for Newton's method.
auto map_of(const Field& field) {
  return [&field](Vector3& point) { return field.displace(point, CellBoundary::one_cell); };
}

double tolerance_at(const Field& field, const Vector3& p) {
  const double rounding = 16 * std::numeric_limits<double>::epsilon() * length(p);
  return std::max(inverse_tolerance(field), rounding);
}

bool iterate_fixed_point(const Field& field, const Vector3& p, double within, Vector3& q) {
  for (int step = 0; step < max_fixed_point_steps; ++step) {
    const Evaluation at = evaluate(map_of(field), q, p);
    if (at.distance <= within) return true;
    q = difference(q, at.error);
  }
  return false;
}

/// The smallest determinant of a part of the grid.
struct Fold {
  double determinant = 1;
  Vector3 index{};
  std::size_t count = 0;
};

/// The number of cells along an axis; an axis with one sample has one, of width 0.
std::size_t cells_along(const Field& field, std::size_t axis) {
  return std::max<std::size_t>(field.last_index()[axis] - field.first_index()[axis], 1);
}

void check_cell(const Field& field, const std::array<std::size_t, 3>& index, Fold& fold) {
  if (field.derivative_bound(index) < 1) return;
  const std::size_t steps = field.basis() == FieldBasis::linear ? 1 : 2;
  std::array<std::size_t, 3> along{};
  for (std::size_t a = 0; a < 3; ++a) {
    along[a] = field.first_index()[a] == field.last_index()[a] ? 0 : steps;
  }
  for (std::size_t k = 0; k <= along[2]; ++k) {
    for (std::size_t j = 0; j <= along[1]; ++j) {
      for (std::size_t i = 0; i <= along[0]; ++i) {
        const auto n = static_cast<double>(steps);
        const Vector3 fractions{static_cast<double>(i) / n, static_cast<double>(j) / n,
                                static_cast<double>(k) / n};
        const double determinant = field.determinant_in_cell(index, fractions);
        if (determinant > 0) continue;
        ++fold.count;
        if (fold.count > 1 && determinant >= fold.determinant) continue;
        fold.determinant = determinant;
        for (std::size_t a = 0; a < 3; ++a) {
          fold.index[a] = static_cast<double>(index[a]) + fractions[a];
        }
      }
    }
  }
}

[[noreturn]] void refuse_fold(const Field& field, const Fold& fold, std::size_t cells) {
  refuse_transform(fold_message("the displacement field", fold.determinant,
                                field.point_of(fold.index), field.dimensions()) +
                   ", and not positive in " + std::to_string(cells) +
                   (cells == 1 ? " cell" : " cells") + " of its grid. Smooth the field");
}

}  // namespace

double inverse_tolerance(const Field& field) {
  const Point3& spacing = field.grid().spacing;
  const double smallest = field.dimensions() == 2 ? std::min(spacing.x, spacing.y)
                                                  : std::min({spacing.x, spacing.y, spacing.z});
  return tolerance * smallest;
}

std::optional<Vector3> solve(const Field& field, const Vector3& p) {
  const double within = tolerance_at(field, p);
  Vector3 mapped = p;
  static_cast<void>(field.displace(mapped, CellBoundary::one_cell));
  const Vector3 start = difference(p, difference(mapped, p));
  Vector3 q = start;
  if (newton(map_of(field), p, within, q)) return q;
  if (iterate_fixed_point(field, p, within, q)) return q;
  return std::nullopt;
}

void check_invertible(const Field& field) {
  const std::size_t rows = cells_along(field, 1) * cells_along(field, 2);
  struct RowFold {
    Fold worst;
    std::size_t cells = 0;
  };
  std::vector<RowFold> folds(rows);
  run_in_lanes(host_threads(), rows, [&](std::size_t /*lane*/, std::size_t row) {
    const auto& first = field.first_index();
    const std::size_t y = first[1] + row % cells_along(field, 1);
    const std::size_t z = first[2] + row / cells_along(field, 1);
    for (std::size_t x = 0; x < cells_along(field, 0); ++x) {
      const std::size_t before = folds[row].worst.count;
      check_cell(field, {first[0] + x, y, z}, folds[row].worst);
      if (folds[row].worst.count > before) ++folds[row].cells;
    }
  });
  std::size_t cells = 0;
  const RowFold* worst = nullptr;
  for (const RowFold& row : folds) {
    cells += row.cells;
    if (row.cells > 0 && (worst == nullptr || row.worst.determinant < worst->worst.determinant)) {
      worst = &row;
    }
  }
  if (worst != nullptr) refuse_fold(field, worst->worst, cells);
}

double residual_of_inverse(const Field& field) {
  const auto& first = field.first_index();
  const auto& last = field.last_index();
  std::array<std::size_t, 3> count{};
  std::size_t step = 1;
  const auto points = [&] {
    std::size_t product = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      count[a] = (last[a] - first[a]) / step + 1;
      product *= count[a];
    }
    return product;
  };
  while (points() > max_sample) ++step;
  std::vector<double> largest(count[1] * count[2]);
  run_in_lanes(host_threads(), largest.size(), [&](std::size_t /*lane*/, std::size_t row) {
    for (std::size_t x = 0; x < count[0]; ++x) {
      Vector3 p = field.point_of({static_cast<double>(first[0] + x * step),
                                  static_cast<double>(first[1] + row % count[1] * step),
                                  static_cast<double>(first[2] + row / count[1] * step)});
      static_cast<void>(field.displace(p, CellBoundary::one_cell));
      const std::optional<Vector3> q = solve(field, p);
      const double distance =
          q ? evaluate(map_of(field), *q, p).distance : std::numeric_limits<double>::infinity();
      largest[row] = std::max(largest[row], distance);
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

}  // namespace warpalign::detail
