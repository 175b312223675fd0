// FLIRT's matrices. They map FSL's millimetres of the moving image ("input") to those of the
// reference.
#include "formats.hpp"
#include "fsl.hpp"
#include "matrices.hpp"
#include "text.hpp"

#include <algorithm>
#include <cstddef>

namespace warpalign::transform_files {

TransformFile read_flirt(std::string_view text, const Geometry& geometry) {
  const std::vector<double> numbers = numbers_of(text, "the matrix");
  expect_count(numbers, 16, "the matrix");
  HomogeneousMatrix matrix;
  std::copy(numbers.begin(), numbers.end(), matrix.m.begin());
  if (!matrix.is_affine()) refuse("the last row of the matrix is not 0 0 0 1");
  need_both(geometry, "a matrix of FLIRT");
  const HomogeneousMatrix reference = fsl_millimetres(*geometry.reference);
  const HomogeneousMatrix moving = fsl_millimetres(*geometry.moving);
  const HomogeneousMatrix voxels = product(inverse_of(product(matrix, moving)), reference);
  return {.transforms = {affine(3, voxels, Coordinates::pixels)}, .geometry = geometry};
}

std::string write_flirt(const Transform& transform, const Geometry& geometry) {
  if (transform.dimensions() != 3) refuse("a matrix of FLIRT maps volumes, not images");
  const HomogeneousMatrix voxels = affine_part(transform, "a matrix of FLIRT");
  need_both(geometry, "a matrix of FLIRT");
  const HomogeneousMatrix reference = fsl_millimetres(*geometry.reference);
  const HomogeneousMatrix moving = fsl_millimetres(*geometry.moving);
  const HomogeneousMatrix matrix = product(reference, inverse_of(product(moving, voxels)));
  std::string text;
  for (std::size_t row = 0; row < 4; ++row) {
    text += text_of(std::span(matrix.m).subspan(4 * row, 4), "  ") + "  \n";
  }
  return text;
}

}  // namespace warpalign::transform_files
