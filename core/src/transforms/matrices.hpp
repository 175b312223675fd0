// Matrices of transforms in two and three dimensions.
#pragma once

#include "registration/numerics/small_matrix.hpp"

#include <warpalign/transform.hpp>

namespace warpalign::detail {

/// Throws Error(invalid_argument) unless the matrix is finite and of this kind.
void check_matrix(TransformKind kind, int dimensions, const HomogeneousMatrix& matrix);
/// `second` after `first`.
[[nodiscard]] HomogeneousMatrix product(const HomogeneousMatrix& second,
                                        const HomogeneousMatrix& first) noexcept;
/// Throws Error(invalid_argument) if the matrix is singular. The inverse of an affine matrix is
/// affine.
[[nodiscard]] HomogeneousMatrix inverse_of(const HomogeneousMatrix& matrix);
/// The upper left 3 x 3 elements.
[[nodiscard]] Matrix3 linear_part(const HomogeneousMatrix& matrix) noexcept;

}  // namespace warpalign::detail
