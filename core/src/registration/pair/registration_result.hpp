// Builds the result of a registration from its matrix.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// Returns a result with `matrix`, which must be a similarity, and its rotation, scale and shift.
[[nodiscard]] Alignment alignment_of(const Affine& matrix, const Shape& reference,
                                     const Shape& moving);

/// The same for an affine transform or a homography, with the similarity that is nearest about the
/// reference's centre.
[[nodiscard]] Alignment alignment_of(Motion motion, const Homography& matrix,
                                     const Shape& reference, const Shape& moving);

}  // namespace warpalign::detail
