// FLIRT's matrices. They map millimetres of the moving image ("input") to millimetres of the
// reference, along the axes of the voxels from the first voxel's centre. Where the image's axes are
// right-handed, x runs from the last voxel to the first (FSL's "newimage" coordinates).
#include "formats.hpp"
#include "matrices.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace warpalign::transform_files {
namespace {

double determinant(const std::array<double, 9>& d) {
  return d[0] * (d[4] * d[8] - d[5] * d[7]) - d[1] * (d[3] * d[8] - d[5] * d[6]) +
         d[2] * (d[3] * d[7] - d[4] * d[6]);
}

/// Maps voxels to FSL's millimetres.
HomogeneousMatrix scaled_millimetres(const PointGrid& grid) {
  HomogeneousMatrix matrix = diagonal(grid.spacing.x, grid.spacing.y, grid.spacing.z);
  // The sign is the same in RAS and in LPS coordinates.
  if (determinant(grid.direction) > 0) {
    matrix.m[0] = -grid.spacing.x;
    matrix.m[3] = grid.spacing.x * static_cast<double>(grid.shape.width - 1);
  }
  return matrix;
}

void check(const Geometry& geometry) {
  if (geometry.reference && geometry.moving) return;
  refuse("a matrix of FLIRT depends on both images: give the reference and the moving image");
}

}  // namespace

TransformFile read_flirt(std::string_view text, const Geometry& geometry) {
  const std::vector<double> numbers = numbers_of(text, "the matrix");
  expect_count(numbers, 16, "the matrix");
  HomogeneousMatrix matrix;
  std::copy(numbers.begin(), numbers.end(), matrix.m.begin());
  if (!matrix.is_affine()) refuse("the last row of the matrix is not 0 0 0 1");
  check(geometry);
  const HomogeneousMatrix reference = scaled_millimetres(*geometry.reference);
  const HomogeneousMatrix moving = scaled_millimetres(*geometry.moving);
  const HomogeneousMatrix voxels = product(inverse_of(product(matrix, moving)), reference);
  return {.transforms = {affine(3, voxels, Coordinates::pixels)}, .geometry = geometry};
}

std::string write_flirt(const Transform& transform, const Geometry& geometry) {
  if (transform.dimensions() != 3) refuse("a matrix of FLIRT maps volumes, not images");
  const HomogeneousMatrix voxels = affine_part(transform, "a matrix of FLIRT");
  check(geometry);
  const HomogeneousMatrix reference = scaled_millimetres(*geometry.reference);
  const HomogeneousMatrix moving = scaled_millimetres(*geometry.moving);
  const HomogeneousMatrix matrix = product(reference, inverse_of(product(moving, voxels)));
  std::string text;
  for (std::size_t row = 0; row < 4; ++row) {
    text += text_of(std::span(matrix.m).subspan(4 * row, 4), "  ") + "  \n";
  }
  return text;
}

}  // namespace warpalign::transform_files
