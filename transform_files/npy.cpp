// NumPy's .npy: matrices for (x, y, 1) or (x, y, z, 1), one or a stack of them as pystackreg's; or
// the displacements at each pixel, in pixels, of the shape (2, height, width) for x and y, or
// (3, depth, height, width) for x, y and z.
#include "formats.hpp"
#include "matrices.hpp"
#include "npy_array.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::transform_files {
namespace {

constexpr std::size_t max_matrices = 1000000;

bool is_field_shape(const std::vector<std::size_t>& shape) {
  if (shape.size() == 4) return shape[0] == 3;
  // Two matrices have 3 x 3 or 4 x 4 numbers; images are larger.
  return shape.size() == 3 && shape[0] == 2 && (shape[1] != shape[2] || shape[1] > 4);
}

template <class Value>
Transform field_of_values(const NpyArray& array) {
  if (array.data.size() != array.count() * sizeof(Value)) {
    refuse("the file is cut short, or longer than its array");
  }
  std::vector<Value> values(array.count());
  std::memcpy(values.data(), array.data.data(), array.data.size());
  const std::vector<std::size_t>& shape = array.shape;
  const std::size_t n = shape.size();
  PointGrid pixels;
  pixels.shape = {static_cast<std::int64_t>(shape[n - 1]), static_cast<std::int64_t>(shape[n - 2]),
                  n == 4 ? static_cast<std::int64_t>(shape[1]) : 1};
  const std::size_t points = values.size() / shape[0];
  const std::array<const Value*, 3> components{values.data(), values.data() + points,
                                               values.data() + (shape[0] - 1) * points};
  return Transform::displacement(pixels, {components.data(), shape[0]});
}

Transform transform_of(int dimensions, HomogeneousMatrix matrix) {
  const bool flat = std::all_of(matrix.m.begin() + 12, matrix.m.begin() + 15,
                                [](double value) { return value == 0; });
  if (flat && matrix.m[15] == 1) return affine(dimensions, matrix, Coordinates::pixels);
  return Transform::of_matrix(TransformKind::homography, dimensions, matrix);
}

/// The displacements at the pixels of the reference or, of a field without one, at its samples.
std::string write_field(const Transform& transform, const Geometry& geometry) {
  const std::optional<PointGrid> own = transform.grid();
  PointGrid pixels;
  if (geometry.reference) {
    pixels.shape = geometry.reference->shape;
  } else if (own && *own == PointGrid{.shape = own->shape} &&
             transform.kind() == TransformKind::displacement) {
    pixels.shape = own->shape;
  } else {
    refuse("the displacements are those of the reference's pixels: give the reference image");
  }
  const auto d = static_cast<std::size_t>(transform.dimensions());
  const auto points = static_cast<std::size_t>(pixels.shape.pixels());
  std::vector<float> samples(d * points);
  const std::array<float*, 3> components{samples.data(), samples.data() + points,
                                         samples.data() + (d - 1) * points};
  transform.field(pixels, {components.data(), d});
  const auto extent = [](std::int64_t side) { return static_cast<std::size_t>(side); };
  std::vector<std::size_t> shape{d, extent(pixels.shape.height), extent(pixels.shape.width)};
  if (d == 3) shape.insert(shape.begin() + 1, extent(pixels.shape.depth));
  std::string file = npy_start("<f4", shape);
  file.append(reinterpret_cast<const char*>(samples.data()), samples.size() * sizeof(float));
  return file;
}

}  // namespace

TransformFile read_npy(std::string_view bytes) {
  const NpyArray array = npy_array_of(bytes);
  std::vector<std::size_t> shape = array.shape;
  const bool fortran = array.fortran;
  if (is_field_shape(shape)) {
    if (fortran) refuse("the field is in Fortran order: save np.ascontiguousarray of it");
    if (array.type == "<f4") return {.transforms = {field_of_values<float>(array)}};
    if (array.type == "<f8") return {.transforms = {field_of_values<double>(array)}};
  }
  const std::vector<double> values = array.reals();
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  if (shape.size() != 3 || shape[1] != shape[2] || (shape[1] != 3 && shape[1] != 4) ||
      shape[0] > max_matrices) {
    refuse(
        "the array is not one matrix or a stack of them, of 3 x 3 or 4 x 4 numbers, nor a field of "
        "the shape (2, height, width) or (3, depth, height, width)");
  }
  const std::size_t n = shape[1];
  const std::size_t count = shape[0];
  TransformFile file;
  for (std::size_t i = 0; i < count; ++i) {
    HomogeneousMatrix matrix;
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column < n; ++column) {
        const std::size_t at =
            fortran ? i + count * (row + n * column) : (i * n + row) * n + column;
        const std::size_t r = row + 1 == n ? 3 : row;
        matrix.m[4 * r + (column + 1 == n ? 3 : column)] = values[at];
      }
    }
    file.transforms.push_back(transform_of(static_cast<int>(n) - 1, matrix));
  }
  return file;
}

std::string write_npy(std::span<const Transform> transforms, const Geometry& geometry) {
  if (transforms.empty()) refuse("there is no transform to write");
  if (transforms.size() == 1 && !transforms.front().matrix()) {
    return write_field(transforms.front(), geometry);
  }
  const auto d = static_cast<std::size_t>(transforms.front().dimensions());
  std::vector<std::size_t> shape{d + 1, d + 1};
  if (transforms.size() > 1) shape.insert(shape.begin(), transforms.size());
  std::string file = npy_start("<f8", shape);
  for (const Transform& transform : transforms) {
    const auto matrix = transform.matrix();
    if (!matrix) refuse("a .npy file holds several matrices or one field, not several fields");
    if (transform.dimensions() != transforms.front().dimensions()) {
      refuse("the transforms are not all of the same dimensions");
    }
    for (const std::size_t row : {0U, 1U, 2U, 3U}) {
      for (const std::size_t column : {0U, 1U, 2U, 3U}) {
        if ((row == 2 || column == 2) && d == 2) continue;
        const double value = matrix->m[4 * row + column];
        file.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
    }
  }
  return file;
}

}  // namespace warpalign::transform_files
