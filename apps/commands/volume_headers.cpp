// What NIfTI headers say about the transform between two volumes.
#include "commands/volume_headers.hpp"

#include "transform_files/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warpalign::program {
namespace {

using transform_files::inverse_of;
using transform_files::product;

std::array<double, 3> mapped(const HomogeneousMatrix& matrix, const std::array<double, 3>& point) {
  std::array<double, 3> result{};
  for (std::size_t row = 0; row < 3; ++row) {
    result[row] = matrix.m[4 * row + 3];
    for (std::size_t j = 0; j < 3; ++j) result[row] += matrix.m[4 * row + j] * point[j];
  }
  return result;
}

std::array<double, 3> last_index(const Shape& shape) {
  return {static_cast<double>(shape.width - 1), static_cast<double>(shape.height - 1),
          static_cast<double>(shape.depth - 1)};
}

}  // namespace

HomogeneousMatrix header_transform(const HomogeneousMatrix& reference_to_world,
                                   const HomogeneousMatrix& moving_to_world) {
  return product(inverse_of(moving_to_world), reference_to_world);
}

HomogeneousMatrix translation_of(const HomogeneousMatrix& transform, const Shape& reference,
                                 const std::array<double, 3>& reference_spacing,
                                 const std::array<double, 3>& moving_spacing) {
  std::array<double, 3> centre = last_index(reference);
  for (double& along : centre) along /= 2;
  const std::array<double, 3> moved = mapped(transform, centre);
  std::array<double, 12> rows{};
  for (std::size_t i = 0; i < 3; ++i) {
    rows[4 * i + i] = reference_spacing[i] / moving_spacing[i];
    rows[4 * i + 3] = moved[i] - rows[4 * i + i] * centre[i];
  }
  return HomogeneousMatrix::affine3(rows);
}

double corner_distance(const HomogeneousMatrix& a, const HomogeneousMatrix& b,
                       const HomogeneousMatrix& moving_to_world, const Shape& reference) {
  const std::array<double, 3> last = last_index(reference);
  double largest = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    std::array<double, 3> at{};
    for (std::size_t i = 0; i < 3; ++i) at[i] = (corner >> i & 1U) != 0 ? last[i] : 0;
    const std::array<double, 3> p = mapped(moving_to_world, mapped(a, at));
    const std::array<double, 3> q = mapped(moving_to_world, mapped(b, at));
    largest = std::max(largest, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
  }
  return largest;
}

HomogeneousMatrix world_transform(const HomogeneousMatrix& voxels,
                                  const HomogeneousMatrix& reference_to_world,
                                  const HomogeneousMatrix& moving_to_world) {
  return product(product(moving_to_world, voxels), inverse_of(reference_to_world));
}

}  // namespace warpalign::program
