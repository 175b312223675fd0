// Grids of fields, and their samples in a file's order.
#include "fields.hpp"

#include "text.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string>

namespace warpalign::transform_files {
namespace {

constexpr double max_extent = 1 << 30;

std::size_t points_of(const PointGrid& grid) {
  constexpr double max_points = 1e9;
  const Shape& s = grid.shape;
  const double count =
      static_cast<double>(s.width) * static_cast<double>(s.height) * static_cast<double>(s.depth);
  if (count > max_points) refuse("the field's grid has more than 1e9 points");
  return static_cast<std::size_t>(s.pixels());
}

std::array<const double*, 3> planes(const double* first, std::size_t points) {
  return {first, first + points, first + 2 * points};
}

}  // namespace

std::int64_t extent_of(double number) {
  if (!(number >= 1) || !(number <= max_extent) || std::floor(number) != number) {
    refuse("the size " + text_of(number) + " of a grid is not a whole number of 1 to 2^30");
  }
  return static_cast<std::int64_t>(number);
}

PointGrid grid_of_itk(int dimensions, std::span<const double> fixed) {
  const auto d = static_cast<std::size_t>(dimensions);
  expect_count(fixed, d * (d + 3), "the grid of a field");
  PointGrid grid;
  std::array<std::int64_t, 3> shape{1, 1, 1};
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{1, 1, 1};
  for (std::size_t i = 0; i < d; ++i) {
    shape[i] = extent_of(fixed[i]);
    origin[i] = fixed[d + i];
    spacing[i] = fixed[2 * d + i];
    for (std::size_t j = 0; j < d; ++j) grid.direction[3 * i + j] = fixed[3 * d + d * i + j];
  }
  grid.shape = {shape[0], shape[1], shape[2]};
  grid.origin = {origin[0], origin[1], origin[2]};
  grid.spacing = {spacing[0], spacing[1], spacing[2]};
  return grid;
}

std::vector<double> itk_of_grid(int dimensions, const PointGrid& grid) {
  const auto d = static_cast<std::size_t>(dimensions);
  const std::array<std::int64_t, 3> shape{grid.shape.width, grid.shape.height, grid.shape.depth};
  const std::array<double, 3> origin{grid.origin.x, grid.origin.y, grid.origin.z};
  const std::array<double, 3> spacing{grid.spacing.x, grid.spacing.y, grid.spacing.z};
  std::vector<double> fixed;
  for (std::size_t i = 0; i < d; ++i) fixed.push_back(static_cast<double>(shape[i]));
  fixed.insert(fixed.end(), origin.begin(), origin.begin() + dimensions);
  fixed.insert(fixed.end(), spacing.begin(), spacing.begin() + dimensions);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) fixed.push_back(grid.direction[3 * i + j]);
  }
  return fixed;
}

Transform displacement_of(const PointGrid& grid, int dimensions, std::span<const double> vectors) {
  const auto d = static_cast<std::size_t>(dimensions);
  const std::size_t points = points_of(grid);
  expect_count(vectors, d * points, "a displacement field");
  std::vector<double> planar(vectors.size());
  for (std::size_t i = 0; i < vectors.size(); ++i) planar[i % d * points + i / d] = vectors[i];
  const auto components = planes(planar.data(), points);
  return Transform::displacement(grid, {components.data(), d}, FieldInterpolation::linear,
                                 Coordinates::world);
}

Transform bspline_of(const PointGrid& grid, int dimensions, std::span<const double> coefficients) {
  const auto d = static_cast<std::size_t>(dimensions);
  const std::size_t points = points_of(grid);
  expect_count(coefficients, d * points, "the coefficients of a B-spline");
  const auto components = planes(coefficients.data(), points);
  return Transform::bspline(grid, {components.data(), d}, Coordinates::world);
}

std::vector<double> planar_samples(const Transform& field) {
  const auto d = static_cast<std::size_t>(field.dimensions());
  const std::size_t points = points_of(*field.grid());
  std::vector<double> planar(d * points);
  const std::array<double*, 3> components{planar.data(), planar.data() + points,
                                          planar.data() + (d - 1) * points};
  field.copy_samples({components.data(), d});
  return planar;
}

std::vector<double> interleaved_samples(const Transform& field) {
  const std::vector<double> planar = planar_samples(field);
  const auto d = static_cast<std::size_t>(field.dimensions());
  const std::size_t points = planar.size() / d;
  std::vector<double> vectors(planar.size());
  for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] = planar[i % d * points + i / d];
  return vectors;
}

}  // namespace warpalign::transform_files
