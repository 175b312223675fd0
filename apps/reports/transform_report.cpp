// Transforms as JSON, and in words.
#include "reports/transform_report.hpp"

#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace warpalign::program {
namespace {

std::vector<std::size_t> axes_of(int dimensions) {
  if (dimensions == 2) return {0, 1};
  return {0, 1, 2};
}

Json matrix_json(const HomogeneousMatrix& matrix, int dimensions) {
  std::vector<std::size_t> axes = axes_of(dimensions);
  axes.push_back(3);
  Json rows = Json::array();
  for (const std::size_t row : axes) {
    Json numbers = Json::array();
    for (const std::size_t column : axes) numbers.push_back(matrix.m[4 * row + column]);
    rows.push_back(numbers);
  }
  return rows;
}

Json grid_json(const PointGrid& grid, int dimensions) {
  const std::array<std::int64_t, 3> shape{grid.shape.depth, grid.shape.height, grid.shape.width};
  const std::array<double, 3> spacing{grid.spacing.x, grid.spacing.y, grid.spacing.z};
  const std::array<double, 3> origin{grid.origin.x, grid.origin.y, grid.origin.z};
  Json object;
  for (const char* const name : {"shape", "spacing", "origin", "direction"}) {
    object[name] = Json::array();
  }
  for (std::size_t i = dimensions == 2 ? 1 : 0; i < 3; ++i) object["shape"].push_back(shape[i]);
  for (const std::size_t i : axes_of(dimensions)) {
    object["spacing"].push_back(spacing[i]);
    object["origin"].push_back(origin[i]);
    Json row = Json::array();
    for (const std::size_t j : axes_of(dimensions)) row.push_back(grid.direction[3 * i + j]);
    object["direction"].push_back(row);
  }
  return object;
}

/// How a field bends: its largest displacement at its samples, and the range of its Jacobian
/// determinants, which are not positive where it folds.
struct Bending {
  double displacement = 0;
  double min_jacobian = 0, max_jacobian = 0;
};

Bending bending_of(const Transform& field) {
  const PointGrid grid = *field.grid();
  const auto points = static_cast<std::size_t>(grid.shape.pixels());
  const auto axes = static_cast<std::size_t>(field.dimensions());
  std::vector<double> numbers(axes * points);
  const std::array<double*, 3> components{numbers.data(), numbers.data() + points,
                                          numbers.data() + (axes - 1) * points};
  field.field(grid, {components.data(), axes});
  Bending bending;
  for (std::size_t i = 0; i < points; ++i) {
    double square = 0;
    for (std::size_t a = 0; a < axes; ++a) square += components[a][i] * components[a][i];
    bending.displacement = std::max(bending.displacement, std::sqrt(square));
  }
  numbers.resize(points);
  field.jacobian(grid, numbers);
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  bending.min_jacobian = *least;
  bending.max_jacobian = *most;
  return bending;
}

void add_transform(Json& object, const Transform& transform) {
  object["kind"] = name_of(transform.kind());
  object["coordinates"] = transform.coordinates() == Coordinates::world ? "world" : "pixels";
  if (const auto matrix = transform.matrix()) {
    object["matrix"] = matrix_json(*matrix, transform.dimensions());
  } else if (const auto grid = transform.grid()) {
    object["grid"] = grid_json(*grid, transform.dimensions());
    const Bending bending = bending_of(transform);
    object["largest_displacement"] = bending.displacement;
    object["jacobian"] = Json::array();
    object["jacobian"].push_back(bending.min_jacobian);
    object["jacobian"].push_back(bending.max_jacobian);
  } else {
    object["members"] = Json::array();
    if (transform.kind() != TransformKind::chain) return;
    for (const Transform& member : transform.members()) {
      Json one;
      add_transform(one, member);
      object["members"].push_back(one);
    }
  }
}

std::string lines_of(const Transform& transform, const std::string& name) {
  const bool world = transform.coordinates() == Coordinates::world;
  std::string text =
      report_line(name, fmt::format("{}, {} dimensions, {}", name_of(transform.kind()),
                                    transform.dimensions(), world ? "millimetres" : "pixels"));
  if (const auto matrix = transform.matrix()) {
    std::vector<std::size_t> rows = axes_of(transform.dimensions());
    if (!matrix->is_affine()) rows.push_back(3);
    for (const std::size_t row : rows) {
      std::string numbers;
      for (std::size_t column = 0; column < 4; ++column) {
        if (column == 2 && transform.dimensions() == 2) continue;
        numbers += fmt::format(" {:14.9g}", matrix->m[4 * row + column]);
      }
      text += report_line(row == 0 ? "matrix" : "", fmt::format("[{} ]", numbers));
    }
  } else if (const auto grid = transform.grid()) {
    const Shape& s = grid->shape;
    text += report_line(
        "grid", fmt::format("{} x {} x {} (x, y, z), spacing {:.6g}, {:.6g}, {:.6g}", s.width,
                            s.height, s.depth, grid->spacing.x, grid->spacing.y, grid->spacing.z));
    const Bending bending = bending_of(transform);
    text += report_line(
        "bends", fmt::format("by up to {:.4g}{}, Jacobian {:.4g} to {:.4g}{}", bending.displacement,
                             world ? " mm" : " pixels", bending.min_jacobian, bending.max_jacobian,
                             bending.min_jacobian > 0 ? "" : ": it folds"));
  } else if (transform.kind() == TransformKind::chain) {
    for (const Transform& member : transform.members()) text += lines_of(member, "then");
  }
  return text;
}

}  // namespace

const char* name_of(TransformKind kind) {
  constexpr std::array<const char*, 10> names{
      "translation",  "rigid",   "similarity", "affine", "homography",
      "displacement", "bspline", "inverse",    "chain",  "thin_plate"};
  return names[static_cast<std::size_t>(kind)];
}

Json transform_json(const transform_files::TransformFile& file) {
  Json object;
  object["schema"] = "warpalign-transform";
  object["version"] = 1;
  if (file.transforms.size() == 1) {
    const Transform& transform = file.transforms.front();
    add_transform(object, transform);
    const int dimensions = transform.dimensions();
    if (file.geometry.reference) {
      object["reference"] = grid_json(*file.geometry.reference, dimensions);
    }
    if (file.geometry.moving) object["moving"] = grid_json(*file.geometry.moving, dimensions);
    return object;
  }
  object["transforms"] = Json::array();
  for (const Transform& transform : file.transforms) {
    Json one;
    add_transform(one, transform);
    object["transforms"].push_back(one);
  }
  return object;
}

std::string transform_text(const transform_files::TransformFile& file) {
  std::string text;
  for (std::size_t i = 0; i < file.transforms.size(); ++i) {
    const std::string number =
        file.transforms.size() > 1 ? fmt::format("frame {}", i) : "transform";
    text += lines_of(file.transforms[i], number);
  }
  return text;
}

}  // namespace warpalign::program
