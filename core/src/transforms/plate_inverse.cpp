// The inverse of a thin-plate spline, point by point.
#include "transforms/plate_inverse.hpp"

#include "device/lanes.hpp"
#include "transforms/fold_message.hpp"
#include "transforms/newton_inverse.hpp"
#include "transforms/refuse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace warpalign::detail {
namespace {

// Of the extent of the values.
constexpr double plate_tolerance = 1e-12;
// Along each axis of the box around the landmarks.
constexpr std::size_t steps_in_plane = 64;
constexpr std::size_t steps_in_space = 20;

struct Box {
  Vector3 least{}, most{};

  [[nodiscard]] double extent() const { return length(difference(most, least)); }
};

/// The box around rows of coordinates.
Box box_of(const std::vector<double>& points, std::size_t axes) {
  Box box;
  for (std::size_t a = 0; a < axes; ++a) {
    box.least[a] = box.most[a] = points[a];
    for (std::size_t i = a; i < points.size(); i += axes) {
      box.least[a] = std::min(box.least[a], points[i]);
      box.most[a] = std::max(box.most[a], points[i]);
    }
  }
  return box;
}

std::size_t axes_of(const ThinPlate& plate) { return static_cast<std::size_t>(plate.dimensions()); }

Vector3 row_of(const std::vector<double>& points, std::size_t axes, std::size_t row) {
  Vector3 point{};
  for (std::size_t a = 0; a < axes; ++a) point[a] = points[axes * row + a];
  return point;
}

/// The points of a grid in the box around the landmarks.
std::vector<Vector3> sample_points(const ThinPlate& plate) {
  const std::size_t axes = axes_of(plate);
  const Box box = box_of(plate.landmarks(), axes);
  const std::size_t steps = axes == 2 ? steps_in_plane : steps_in_space;
  const std::size_t planes = axes == 2 ? 1 : steps + 1;
  std::vector<Vector3> points;
  for (std::size_t k = 0; k < planes; ++k) {
    for (std::size_t j = 0; j <= steps; ++j) {
      for (std::size_t i = 0; i <= steps; ++i) {
        const std::array<std::size_t, 3> index{i, j, k};
        Vector3 point{};
        for (std::size_t a = 0; a < axes; ++a) {
          const double fraction = static_cast<double>(index[a]) / static_cast<double>(steps);
          point[a] = box.least[a] + fraction * (box.most[a] - box.least[a]);
        }
        points.push_back(point);
      }
    }
  }
  return points;
}

auto map_of(const ThinPlate& plate) {
  return [&plate](Vector3& point) {
    Matrix3 jacobian{};
    plate.map(point, &jacobian);
    return jacobian;
  };
}

double determinant_at(const ThinPlate& plate, Vector3 point) {
  return determinant(map_of(plate)(point));
}

/// The sign of the Jacobian determinant, which is the same everywhere if nothing folds.
double sign_of(const ThinPlate& plate) {
  return determinant_at(plate, row_of(plate.landmarks(), axes_of(plate), 0)) < 0 ? -1 : 1;
}

/// What does not depend on the point that is inverted.
struct PlateSolver {
  explicit PlateSolver(const ThinPlate& spline)
      : plate(spline),
        within(plate_tolerance * box_of(spline.values(), axes_of(spline)).extent()),
        sign(sign_of(spline)) {}

  [[nodiscard]] std::optional<Vector3> solve(const Vector3& p) const {
    const std::size_t axes = axes_of(plate);
    const std::vector<double>& values = plate.values();
    std::size_t nearest = 0;
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < values.size() / axes; ++i) {
      const double distance = length(difference(row_of(values, axes, i), p));
      if (distance >= shortest) continue;
      shortest = distance;
      nearest = i;
    }
    const double rounding = 16 * std::numeric_limits<double>::epsilon() * length(p);
    Vector3 q = row_of(plate.landmarks(), axes, nearest);
    if (newton(map_of(plate), p, std::max(within, rounding), q, sign)) return q;
    return std::nullopt;
  }

  const ThinPlate& plate;
  double within;
  double sign;
};

}  // namespace

void check_invertible(const ThinPlate& plate) {
  const std::size_t axes = axes_of(plate);
  std::vector<Vector3> points = sample_points(plate);
  for (std::size_t i = 0; i < plate.landmarks().size() / axes; ++i) {
    points.push_back(row_of(plate.landmarks(), axes, i));
  }
  const double sign = sign_of(plate);
  std::vector<double> determinants(points.size());
  run_in_lanes(host_threads(), points.size(), [&](std::size_t /*lane*/, std::size_t i) {
    determinants[i] = sign * determinant_at(plate, points[i]);
  });
  const auto least = std::min_element(determinants.begin(), determinants.end());
  if (*least > 0) return;
  const Vector3& p = points[static_cast<std::size_t>(least - determinants.begin())];
  refuse_transform(fold_message("the thin-plate spline", sign * *least, p, plate.dimensions()) +
                   ". Look for wrong pairs of points there");
}

std::optional<Vector3> solve(const ThinPlate& plate, const Vector3& p) {
  return PlateSolver(plate).solve(p);
}

double residual_of_inverse(const ThinPlate& plate) {
  const PlateSolver solver(plate);
  const std::vector<Vector3> points = sample_points(plate);
  std::vector<double> distances(points.size());
  run_in_lanes(host_threads(), points.size(), [&](std::size_t /*lane*/, std::size_t i) {
    Vector3 p = points[i];
    plate.map(p, nullptr);
    const std::optional<Vector3> q = solver.solve(p);
    distances[i] =
        q ? evaluate(map_of(plate), *q, p).distance : std::numeric_limits<double>::infinity();
  });
  return *std::max_element(distances.begin(), distances.end());
}

}  // namespace warpalign::detail
