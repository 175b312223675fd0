// Our own files of all kinds of transforms (.npz): NumPy's arrays by name. Those of pixels are in
// array axes, (row, column) or (plane, row, column), those of world coordinates in x, y, z.
// python/warpalign/_transform_files.py reads and writes the same.
#include "matrices.hpp"
#include "npy_array.hpp"
#include "text.hpp"
#include "transform_files.hpp"
#include "zip_archive.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::transform_files {
namespace {

constexpr std::string_view schema = "warpalign-transform 1";
constexpr std::array<std::string_view, 10> kinds{
    "translation",  "rigid",   "similarity", "affine", "homography",
    "displacement", "bspline", "inverse",    "chain",  "thin_plate"};
constexpr std::size_t num_matrices = 5;  // of these kinds
constexpr std::size_t max_members = 1000;
constexpr std::size_t max_transforms = 20000;
constexpr int max_depth = 20;

/// The index of a row or column for (x, y, z, 1) that stands at `i` in a matrix of n + 1 rows.
std::size_t row_of(std::size_t i, std::size_t n, bool pixels) {
  return i == n ? 3 : pixels ? n - 1 - i : i;
}

class ArrayReader {
 public:
  explicit ArrayReader(std::string_view bytes) : files_(files_of_zip(bytes)) {}

  [[nodiscard]] bool has(const std::string& name) const {
    return files_.find(name + ".npy") != files_.end();
  }
  [[nodiscard]] NpyArray array(const std::string& name) const {
    const auto found = files_.find(name + ".npy");
    if (found == files_.end()) refuse("it has no array '" + name + "'");
    NpyArray array = npy_array_of(found->second);
    if (array.fortran && array.shape.size() > 1) refuse("'" + name + "' is in Fortran order");
    return array;
  }
  /// A text of ASCII.
  [[nodiscard]] std::string text(const std::string& name) const {
    const NpyArray value = array(name);
    if (!value.type.starts_with("<U") || !value.shape.empty()) refuse("'" + name + "' is no text");
    std::string text;
    for (std::size_t i = 0; i + 3 < value.data.size(); i += 4) {
      const char c = value.data[i];
      if (c == 0) break;
      text += c;
    }
    return text;
  }
  /// A number of members, from 1 on.
  [[nodiscard]] std::size_t count(const std::string& name, std::size_t most) const {
    const std::vector<std::int64_t> values = integers(name);
    if (values.size() != 1 || values[0] < 1 || values[0] > static_cast<std::int64_t>(most)) {
      refuse("'" + name + "' is not a number from 1 to " + std::to_string(most));
    }
    return static_cast<std::size_t>(values[0]);
  }
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name) const {
    const NpyArray value = array(name);
    const std::size_t count = value.count();
    if (value.type != "<i8" || value.data.size() != 8 * count) {
      refuse("'" + name + "' is not of whole numbers (int64)");
    }
    std::vector<std::int64_t> values(count);
    std::memcpy(values.data(), value.data.data(), value.data.size());
    return values;
  }
  [[nodiscard]] std::vector<double> reals(const std::string& name, std::size_t count) const {
    std::vector<double> values = array(name).reals();
    expect_count(values, count, "'" + name + "'");
    return values;
  }

 private:
  std::map<std::string, std::string_view, std::less<>> files_;
};

std::optional<PointGrid> geometry_of(const ArrayReader& arrays, const std::string& name) {
  if (!arrays.has(name + ".shape")) return std::nullopt;
  const std::vector<std::int64_t> shape = arrays.integers(name + ".shape");
  const std::size_t n = shape.size();
  if (n != 2 && n != 3) refuse("'" + name + "' has neither 2 nor 3 dimensions");
  const auto spacing = arrays.reals(name + ".spacing", n);
  const auto origin = arrays.reals(name + ".origin", n);
  const auto direction = arrays.reals(name + ".direction", n * n);
  PointGrid grid{.shape = {shape[n - 1], shape[n - 2], n == 3 ? shape[0] : 1}};
  grid.spacing = {spacing[0], spacing[1], n == 3 ? spacing[2] : 1};
  grid.origin = {origin[0], origin[1], n == 3 ? origin[2] : 0};
  for (std::size_t i = 0; i < n * n; ++i) grid.direction[3 * (i / n) + i % n] = direction[i];
  return grid;
}

Transform matrix_of(const ArrayReader& arrays, const std::string& prefix, TransformKind kind,
                    Coordinates coordinates) {
  const NpyArray array = arrays.array(prefix + "matrix");
  const std::vector<double> values = array.reals();
  const std::size_t n = array.shape.empty() ? 0 : array.shape[0] - 1;
  if (array.shape.size() != 2 || array.shape[1] != n + 1 || (n != 2 && n != 3)) {
    refuse("its matrix is not of 3 x 3 or 4 x 4 numbers");
  }
  const bool pixels = coordinates == Coordinates::pixels;
  HomogeneousMatrix matrix;
  for (std::size_t i = 0; i < values.size(); ++i) {
    matrix.m[4 * row_of(i / (n + 1), n, pixels) + row_of(i % (n + 1), n, pixels)] = values[i];
  }
  return Transform::of_matrix(kind, static_cast<int>(n), matrix, coordinates);
}

/// The grid of a field's samples.
PointGrid grid_of(const ArrayReader& arrays, const std::string& prefix,
                  const std::vector<std::size_t>& shape) {
  const std::size_t n = shape.size() - 1;
  const auto extent = [&](std::size_t axis) { return static_cast<std::int64_t>(shape[axis]); };
  PointGrid grid{.shape = {extent(n), extent(n - 1), n == 3 ? extent(1) : 1}};
  if (arrays.has(prefix + "direction")) {
    const auto numbers = arrays.reals(prefix + "grid", 6);
    const auto direction = arrays.reals(prefix + "direction", 9);
    grid.origin = {numbers[0], numbers[1], numbers[2]};
    grid.spacing = {numbers[3], numbers[4], numbers[5]};
    std::copy(direction.begin(), direction.end(), grid.direction.begin());
    return grid;
  }
  const auto origin = arrays.reals(prefix + "origin", n);
  const auto spacing = arrays.reals(prefix + "spacing", n);
  grid.origin = {origin[n - 1], origin[n - 2], n == 3 ? origin[0] : 0};
  grid.spacing = {spacing[n - 1], spacing[n - 2], n == 3 ? spacing[0] : 1};
  return grid;
}

template <class Value>
Transform field_of(const NpyArray& samples, const PointGrid& grid, TransformKind kind,
                   FieldInterpolation interpolation, Coordinates coordinates) {
  const std::size_t n = samples.shape.size() - 1;
  const std::size_t points = samples.count() / n;
  if (samples.data.size() != n * points * sizeof(Value)) {
    refuse("its samples are cut short, or more than those of their array");
  }
  std::vector<Value> values(n * points);
  std::memcpy(values.data(), samples.data.data(), samples.data.size());
  std::array<const Value*, 3> components{};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t axis = row_of(i, n, coordinates == Coordinates::pixels);
    components[axis] = values.data() + i * points;
  }
  const std::span<const Value* const> all(components.data(), n);
  if (kind == TransformKind::bspline) return Transform::bspline(grid, all, coordinates);
  return Transform::displacement(grid, all, interpolation, coordinates);
}

Transform field_of(const ArrayReader& arrays, const std::string& prefix, TransformKind kind,
                   Coordinates coordinates) {
  const NpyArray samples = arrays.array(prefix + "samples");
  const std::size_t n = samples.shape.size() - 1;
  if ((samples.shape.size() != 3 && samples.shape.size() != 4) || samples.shape[0] != n) {
    refuse("its samples are not those of a field");
  }
  const PointGrid grid = grid_of(arrays, prefix, samples.shape);
  auto interpolation = FieldInterpolation::linear;
  if (kind == TransformKind::displacement) {
    const std::string name = arrays.text(prefix + "interpolation");
    if (name == "cubic") interpolation = FieldInterpolation::cubic;
    if (name != "cubic" && name != "linear") refuse("it has the unknown interpolation " + name);
  }
  if (samples.type == "<f4") {
    return field_of<float>(samples, grid, kind, interpolation, coordinates);
  }
  if (samples.type == "<f8") {
    return field_of<double>(samples, grid, kind, interpolation, coordinates);
  }
  refuse("its samples are neither float32 nor float64");
}

Transform plate_of(const ArrayReader& arrays, const std::string& prefix, Coordinates coordinates) {
  const NpyArray landmarks = arrays.array(prefix + "landmarks");
  if (landmarks.shape.size() != 3 || landmarks.shape[0] != 2 || landmarks.shape[2] > 3) {
    refuse("its landmarks are not two lists of points");
  }
  const std::vector<double> values = landmarks.reals();
  const std::span<const double> all(values);
  return Transform::thin_plate(static_cast<int>(landmarks.shape[2]), all.first(values.size() / 2),
                               all.last(values.size() / 2), coordinates);
}

Transform transform_of(const ArrayReader& arrays, const std::string& prefix, int depth) {
  if (depth > max_depth) refuse("its chains are nested too deeply");
  const std::string name = arrays.text(prefix + "kind");
  const auto* const found = std::find(kinds.begin(), kinds.end(), name);
  if (found == kinds.end()) refuse("it has a transform of the unknown kind '" + name + "'");
  const auto kind = static_cast<TransformKind>(found - kinds.begin());
  auto coordinates = Coordinates::pixels;
  if (arrays.has(prefix + "coordinates")) {
    const std::string unit = arrays.text(prefix + "coordinates");
    if (unit == "world") coordinates = Coordinates::world;
    if (unit != "world" && unit != "pixels") refuse("it has the unknown coordinates " + unit);
  }
  if (static_cast<std::size_t>(kind) < num_matrices) {
    return matrix_of(arrays, prefix, kind, coordinates);
  }
  switch (kind) {
    case TransformKind::thin_plate:
      return plate_of(arrays, prefix, coordinates);
    case TransformKind::inverse:
      return transform_of(arrays, prefix + "of.", depth + 1).inverse();
    case TransformKind::chain: {
      const std::size_t count = arrays.count(prefix + "members", max_members);
      Transform whole = transform_of(arrays, prefix + "0.", depth + 1);
      for (std::size_t i = 1; i < count; ++i) {
        whole = transform_of(arrays, prefix + std::to_string(i) + ".", depth + 1) * whole;
      }
      return whole;
    }
    default:
      return field_of(arrays, prefix, kind, coordinates);
  }
}

/// Adds arrays to an archive.
class ArrayWriter {
 public:
  void add(const std::string& name, std::string_view type, std::vector<std::size_t> shape,
           std::string_view data) {
    std::string file = npy_start(type, shape);
    file += data;
    archive_.add(name + ".npy", file);
  }
  void text(const std::string& name, std::string_view text) {
    std::string data;
    for (const char c : text) data += std::string{c, '\0', '\0', '\0'};
    add(name, "<U" + std::to_string(text.size()), {}, data);
  }
  void integers(const std::string& name, const std::vector<std::int64_t>& values, bool scalar) {
    add(name, "<i8", scalar ? std::vector<std::size_t>{} : std::vector{values.size()},
        {reinterpret_cast<const char*>(values.data()), 8 * values.size()});
  }
  void reals(const std::string& name, std::vector<std::size_t> shape,
             std::span<const double> values) {
    add(name, "<f8", std::move(shape),
        {reinterpret_cast<const char*>(values.data()), 8 * values.size()});
  }
  std::string finish() && { return std::move(archive_).finish(); }

 private:
  ZipWriter archive_;
};

/// One number for each axis, in axis order or as x, y and z.
std::vector<double> along_axes(const Point3& point, std::size_t n, bool pixels) {
  const std::array<double, 3> all{point.x, point.y, point.z};
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = all[row_of(i, n, pixels)];
  return values;
}

void add_geometry(ArrayWriter& arrays, const std::string& name,
                  const std::optional<PointGrid>& grid, std::size_t n) {
  if (!grid) return;
  const Shape& s = grid->shape;
  std::vector<std::int64_t> shape{s.height, s.width};
  if (n == 3) shape.insert(shape.begin(), s.depth);
  std::vector<double> direction;
  for (std::size_t i = 0; i < n * n; ++i) {
    direction.push_back(grid->direction[3 * (i / n) + i % n]);
  }
  arrays.integers(name + ".shape", shape, false);
  arrays.reals(name + ".spacing", {n}, along_axes(grid->spacing, n, false));
  arrays.reals(name + ".origin", {n}, along_axes(grid->origin, n, false));
  arrays.reals(name + ".direction", {n, n}, direction);
}

void add_matrix(ArrayWriter& arrays, const std::string& prefix, const Transform& transform) {
  const auto n = static_cast<std::size_t>(transform.dimensions());
  const bool pixels = transform.coordinates() == Coordinates::pixels;
  const HomogeneousMatrix matrix = *transform.matrix();
  std::vector<double> values;
  for (std::size_t i = 0; i < (n + 1) * (n + 1); ++i) {
    values.push_back(matrix.m[4 * row_of(i / (n + 1), n, pixels) + row_of(i % (n + 1), n, pixels)]);
  }
  arrays.reals(prefix + "matrix", {n + 1, n + 1}, values);
}

void add_field(ArrayWriter& arrays, const std::string& prefix, const Transform& transform) {
  const auto n = static_cast<std::size_t>(transform.dimensions());
  const bool pixels = transform.coordinates() == Coordinates::pixels;
  const PointGrid grid = *transform.grid();
  const auto points = static_cast<std::size_t>(grid.shape.pixels());
  std::vector<double> values(n * points);
  std::array<double*, 3> components{};
  for (std::size_t i = 0; i < n; ++i) {
    components[row_of(i, n, pixels)] = values.data() + i * points;
  }
  transform.copy_samples({components.data(), n});
  const auto extent = [](std::int64_t side) { return static_cast<std::size_t>(side); };
  std::vector<std::size_t> shape{n, extent(grid.shape.height), extent(grid.shape.width)};
  if (n == 3) shape.insert(shape.begin() + 1, extent(grid.shape.depth));
  if (transform.sample_type() == PixelType::f32) {
    const std::vector<float> singles(values.begin(), values.end());
    arrays.add(prefix + "samples", "<f4", shape,
               {reinterpret_cast<const char*>(singles.data()), 4 * singles.size()});
  } else {
    arrays.reals(prefix + "samples", shape, values);
  }
  if (pixels && grid.direction == PointGrid{}.direction) {
    arrays.reals(prefix + "origin", {n}, along_axes(grid.origin, n, true));
    arrays.reals(prefix + "spacing", {n}, along_axes(grid.spacing, n, true));
  } else {
    const std::array<double, 6> numbers{grid.origin.x,  grid.origin.y,  grid.origin.z,
                                        grid.spacing.x, grid.spacing.y, grid.spacing.z};
    arrays.reals(prefix + "grid", {2, 3}, numbers);
    arrays.reals(prefix + "direction", {3, 3}, grid.direction);
  }
  if (transform.kind() == TransformKind::displacement) {
    const bool cubic = transform.interpolation() == FieldInterpolation::cubic;
    arrays.text(prefix + "interpolation", cubic ? "cubic" : "linear");
  }
}

void add_transform(ArrayWriter& arrays, const std::string& prefix, const Transform& transform) {
  arrays.text(prefix + "kind", kinds[static_cast<std::size_t>(transform.kind())]);
  if (transform.coordinates() == Coordinates::world) arrays.text(prefix + "coordinates", "world");
  switch (transform.kind()) {
    case TransformKind::displacement:
    case TransformKind::bspline:
      return add_field(arrays, prefix, transform);
    case TransformKind::inverse:
      return add_transform(arrays, prefix + "of.", transform.inverse());
    case TransformKind::thin_plate: {
      const auto landmarks = transform.landmarks();
      std::vector<double> values = landmarks[0];
      values.insert(values.end(), landmarks[1].begin(), landmarks[1].end());
      const auto n = static_cast<std::size_t>(transform.dimensions());
      return arrays.reals(prefix + "landmarks", {2, landmarks[0].size() / n, n}, values);
    }
    case TransformKind::chain: {
      const std::vector<Transform> members = transform.members();
      arrays.integers(prefix + "members", {static_cast<std::int64_t>(members.size())}, true);
      for (std::size_t i = 0; i < members.size(); ++i) {
        add_transform(arrays, prefix + std::to_string(i) + ".", members[i]);
      }
      return;
    }
    default:
      return add_matrix(arrays, prefix, transform);
  }
}

}  // namespace

bool is_npz(std::string_view bytes) { return is_zip(bytes); }

TransformFile read_npz(std::string_view bytes) {
  const ArrayReader arrays(bytes);
  if (!arrays.has("schema")) refuse("it is an archive, but not one of transforms");
  const std::string found = arrays.text("schema");
  if (found != schema) refuse("its schema is '" + found + "', not '" + std::string(schema) + "'");
  const bool single = !arrays.has("count");
  const std::size_t count = single ? 1 : arrays.count("count", max_transforms);
  TransformFile file;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string prefix = single ? "" : "t" + std::to_string(i) + ".";
    file.transforms.push_back(transform_of(arrays, prefix, 0));
    if (!file.geometry.reference)
      file.geometry.reference = geometry_of(arrays, prefix + "reference");
    if (!file.geometry.moving) file.geometry.moving = geometry_of(arrays, prefix + "moving");
  }
  return file;
}

std::string write_npz(const TransformFile& file) {
  if (file.transforms.empty()) refuse("there is no transform to write");
  const bool single = file.transforms.size() == 1;
  ArrayWriter arrays;
  arrays.text("schema", schema);
  if (!single) {
    arrays.integers("count", {static_cast<std::int64_t>(file.transforms.size())}, true);
  }
  for (std::size_t i = 0; i < file.transforms.size(); ++i) {
    const Transform& transform = file.transforms[i];
    const std::string prefix = single ? "" : "t" + std::to_string(i) + ".";
    const auto n = static_cast<std::size_t>(transform.dimensions());
    add_transform(arrays, prefix, transform);
    add_geometry(arrays, prefix + "reference", file.geometry.reference, n);
    add_geometry(arrays, prefix + "moving", file.geometry.moving, n);
  }
  return std::move(arrays).finish();
}

}  // namespace warpalign::transform_files
