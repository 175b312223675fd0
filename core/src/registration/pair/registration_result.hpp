// Builds the reported result of a registration from its matrix.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// A result with the matrix, which must be a similarity, and its rotation, scale and translation.
[[nodiscard]] Registered registered(const Affine& matrix, const Shape& reference,
                                    const Shape& moving);

/// The same of an affine transform or a homography, with the similarity that is nearest about the
/// reference's centre.
[[nodiscard]] Registered registered(Motion motion, const Homography& matrix, const Shape& reference,
                                    const Shape& moving);

}  // namespace warpalign::detail
