// From a matrix to what a registration reports of it.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// The matrix, a similarity, with its rotation, scale, translation and overlap named.
[[nodiscard]] Registered registered(const Affine& matrix, const Shape& reference,
                                    const Shape& moving);

}  // namespace warpalign::detail
