// Converts matrices, rotations, zooms and coordinate files for the interpolation stage.
#include "options/sampling_points.hpp"

#include "io/array_file.hpp"
#include "io/usage_error.hpp"
#include "options/number_list.hpp"
#include "options/rotation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace warpalign::program {
namespace {

using Extents = std::vector<std::int64_t>;

Shape shape_of(const Extents& extents) {
  Array array;
  array.extents = extents;
  return array.shape();
}

std::int64_t count_of(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

/// The extents of --shape if it is given, otherwise `usual`.
Extents output_extents(const PointOptions& options, const Extents& usual) {
  if (!options.shape) return usual;
  Extents extents = parse_extents("--shape", *options.shape);
  if (extents.size() != usual.size()) {
    throw UsageError(fmt::format("--shape {}: has {} extents, but the input has {} dimensions",
                                 *options.shape, extents.size(), usual.size()));
  }
  return extents;
}

HomogeneousMatrix matrix_transform(const std::string& text, std::size_t dimensions) {
  const std::vector<double> n = parse_numbers("--matrix", text);
  if (n.size() != dimensions * (dimensions + 1)) {
    throw UsageError(fmt::format(
        "--matrix {}: has {} numbers; an input of {} dimension{} takes {}, in row order", text,
        n.size(), dimensions, dimensions == 1 ? "" : "s", dimensions * (dimensions + 1)));
  }
  if (dimensions == 1) return Affine{n[0], 0, n[1], 0, 1, 0};
  if (dimensions == 2) return Affine{n[0], n[1], n[2], n[3], n[4], n[5]};
  std::array<double, 12> rows{};
  std::copy(n.begin(), n.end(), rows.begin());
  return HomogeneousMatrix::affine3(rows);
}

HomogeneousMatrix rotation_transform(const PointOptions& options, const Extents& input) {
  if (input.size() != 2) {
    throw UsageError(fmt::format(
        "--rotate: requires an input of two dimensions, not {}; use --matrix", input.size()));
  }
  if (!std::isfinite(*options.rotate)) throw UsageError("--rotate: must be a finite number");
  Point centre = centre_of(shape_of(input));
  if (options.center) {
    const std::vector<double> numbers = parse_numbers("--center", *options.center);
    if (numbers.size() != 2) {
      throw UsageError(fmt::format("--center {}: must be two numbers, X,Y", *options.center));
    }
    centre = {numbers[0], numbers[1]};
  }
  return rotation_about(centre, *options.rotate);
}

/// Rounds half to even, like Python's round() and therefore SciPy's zoom().
Extents zoomed(const Extents& input, double factor) {
  if (!std::isfinite(factor) || factor <= 0) {
    throw UsageError(fmt::format("--zoom {}: must be a number above 0", factor));
  }
  Extents extents;
  for (const std::int64_t extent : input) {
    const double size = std::nearbyint(factor * static_cast<double>(extent));
    if (size < 1 || size > static_cast<double>(max_extent)) {
      throw UsageError(
          fmt::format("--zoom {}: would produce {} pixels from {}; 1 to 2^30 are allowed", factor,
                      size, extent));
    }
    extents.push_back(static_cast<std::int64_t>(size));
  }
  return extents;
}

Extents without_first(const Extents& extents) { return {extents.begin() + 1, extents.end()}; }

/// Converts SciPy's layout (z, y, x along the first axis) to the library's (x, y, z).
Array x_first(const Array& field) {
  Array reversed = field;
  const auto axes = static_cast<std::size_t>(field.extents.front());
  const std::size_t bytes = field.bytes.size() / axes;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::memcpy(reversed.bytes.data() + axis * bytes,
                field.bytes.data() + (axes - 1 - axis) * bytes, bytes);
  }
  return reversed;
}

SamplingPoints field_points(const PointOptions& options, std::size_t dimensions, bool in_double) {
  constexpr int max_dimensions = 4;
  const std::string& name = *options.coordinates;
  const Array field = load_npy(name, max_dimensions);
  if (field.type == PixelType::c32) {
    throw UsageError(fmt::format("{}: holds complex numbers; coordinates must be real", name));
  }
  if (field.dimensions() < 2 || field.extents.front() != static_cast<std::int64_t>(dimensions)) {
    throw UsageError(fmt::format(
        "{}: has the shape ({}); an input of {} dimension{} takes coordinates of shape ({}, ...), "
        "as in SciPy's map_coordinates",
        name, fmt::join(field.extents, ", "), dimensions, dimensions == 1 ? "" : "s", dimensions));
  }
  SamplingPoints points;
  points.extents = without_first(field.extents);
  if (options.shape && parse_extents("--shape", *options.shape) != points.extents) {
    throw UsageError(
        fmt::format("--shape {}: the coordinates in {} have the shape {}; omit --shape",
                    *options.shape, name, fmt::join(points.extents, "x")));
  }
  points.coordinates = x_first(in_double ? to_double(field) : to_float(field));
  points.stage_shape = points.extents.size() <= dimensions ? shape_of(points.extents)
                                                           : Shape{count_of(points.extents), 1, 1};
  return points;
}

/// Adds each pixel's x to the first array and its y to the second one.
template <typename Number>
void add_pixel_coordinates(std::span<Number> displacements, std::size_t width) {
  const std::size_t pixels = displacements.size() / 2;
  for (std::size_t i = 0; i < pixels; ++i) {
    displacements[i] += static_cast<Number>(i % width);
    displacements[i + pixels] += static_cast<Number>(i / width);
  }
}

/// The pixel coordinates plus the displacements that `register --motion local --field` writes.
SamplingPoints displaced_points(const PointOptions& options, const Extents& input, bool in_double) {
  const std::string& name = *options.field;
  const Array field = load_npy(name);
  if (field.type != PixelType::f32 && field.type != PixelType::f64) {
    throw UsageError(fmt::format("{}: is {}; a displacement field must be float32 or float64", name,
                                 describe(field)));
  }
  Extents wanted{2};
  wanted.insert(wanted.end(), input.begin(), input.end());
  if (input.size() != 2 || field.extents != wanted) {
    throw UsageError(fmt::format(
        "{}: has the shape ({}); an input of shape ({}) takes a field of shape (2, height, width): "
        "the displacements along x, then along y",
        name, fmt::join(field.extents, ", "), fmt::join(input, ", ")));
  }
  SamplingPoints points;
  points.extents = input;
  points.stage_shape = shape_of(input);
  points.coordinates = in_double ? to_double(field) : to_float(field);
  const auto width = static_cast<std::size_t>(points.stage_shape.width);
  if (in_double) {
    add_pixel_coordinates(points.coordinates->samples<double>(), width);
  } else {
    add_pixel_coordinates(points.coordinates->samples<float>(), width);
  }
  return points;
}

}  // namespace

void check_points(const PointOptions& options) {
  const int ways = (options.matrix ? 1 : 0) + (options.rotate ? 1 : 0) + (options.zoom ? 1 : 0) +
                   (options.coordinates ? 1 : 0) + (options.field ? 1 : 0);
  if (ways != 1) {
    throw UsageError(fmt::format(
        "{}; give exactly one of --matrix, --rotate, --zoom, --coordinates and --field",
        ways == 0 ? "no sampling points are given" : "the sampling points are given twice"));
  }
  if (options.shape && options.field) {
    throw UsageError("--shape: the output has the shape of the --field; omit --shape");
  }
  if (options.center && !options.rotate) throw UsageError("--center: requires --rotate");
}

SamplingPoints points_of(const PointOptions& options, const Extents& input, bool in_double) {
  if (options.coordinates) return field_points(options, input.size(), in_double);
  if (options.field) return displaced_points(options, input, in_double);
  SamplingPoints points;
  if (options.matrix) {
    points.transform = matrix_transform(*options.matrix, input.size());
    points.extents = output_extents(options, input);
  } else if (options.rotate) {
    points.transform = rotation_transform(options, input);
    points.extents = output_extents(options, input);
  } else {
    const Extents whole = zoomed(input, *options.zoom);
    points.transform = HomogeneousMatrix::zoom(shape_of(input), shape_of(whole));
    points.extents = output_extents(options, whole);
  }
  points.stage_shape = shape_of(points.extents);
  return points;
}

}  // namespace warpalign::program
