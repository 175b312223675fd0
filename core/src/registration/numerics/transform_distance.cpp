// Distances between the positions to which two transforms map the pixels of an image.
#include "registration/numerics/transform_distance.hpp"

#include "registration/numerics/mapped_row.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

// The grid points of a row, and a number for each of them.
using GridRow = MappedRow<grid_steps + 1>;
using Numbers = GridRow::Numbers;

double square(double x, double y) { return x * x + y * y; }

Numbers grid_positions(std::int64_t size) {
  Numbers positions;
  for (int i = 0; i <= grid_steps; ++i) {
    positions[static_cast<std::size_t>(i)] = grid_position(size, i);
  }
  return positions;
}

double total(const Numbers& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

// The difference of two affine transforms is affine, and its length is a convex function of the
// position, so the maximum is at a corner.
double corner_distance(const Affine& a, const Affine& b, const Shape& shape) {
  const auto right = static_cast<double>(shape.width - 1);
  const auto bottom = static_cast<double>(shape.height - 1);
  const Point first{a.c - b.c, a.f - b.f};
  const Point along{(a.a - b.a) * right, (a.d - b.d) * right};
  const Point down{(a.b - b.b) * bottom, (a.e - b.e) * bottom};
  return std::sqrt(std::max({square(first.x, first.y), square(first.x + along.x, first.y + along.y),
                             square(first.x + down.x, first.y + down.y),
                             square(first.x + along.x + down.x, first.y + along.y + down.y)}));
}

double corner_distance(const Homography& a, const Homography& b, const Shape& shape) {
  if (a.is_affine() && b.is_affine()) return corner_distance(a.affine(), b.affine(), shape);
  double maximum = 0;
  for (const double x : {0.0, static_cast<double>(shape.width - 1)}) {
    for (const double y : {0.0, static_cast<double>(shape.height - 1)}) {
      const Point p = a({x, y});
      const Point q = b({x, y});
      maximum = std::max(maximum, square(p.x - q.x, p.y - q.y));
    }
  }
  return std::sqrt(maximum);
}

// Each step of a fit calls this function, so it must be fast. It sums the columns of the grid
// separately and without branches, so that compilers vectorize the loop.
double common_distance(const Homography& a, const Homography& b, const Shape& shape,
                       const Shape& moving) {
  const Numbers across = grid_positions(shape.width);
  const auto right = static_cast<double>(moving.width - 1);
  const auto bottom = static_cast<double>(moving.height - 1);
  Numbers squares{};
  Numbers points{};
  for (int step = 0; step <= grid_steps; ++step) {
    const double at = grid_position(shape.height, step);
    const GridRow p(a, across, at);
    const GridRow q(b, across, at);
    for (std::size_t i = 0; i < across.size(); ++i) {
      const bool inside = (q.x[i] >= 0) & (q.y[i] >= 0) & (q.x[i] <= right) & (q.y[i] <= bottom);
      squares[i] += inside ? square(p.x[i] - q.x[i], p.y[i] - q.y[i]) : 0.0;
      points[i] += inside ? 1.0 : 0.0;
    }
  }
  const double count = total(points);
  return count > 0 ? std::sqrt(total(squares) / count) : corner_distance(a, b, shape);
}

}  // namespace warpalign::detail
