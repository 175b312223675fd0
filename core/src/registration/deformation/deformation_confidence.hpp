// The confidence in a deformation without an affine step, which would have judged the pair.
#pragma once

#include <warpalign/deformation.hpp>

namespace warpalign::detail {

/// 0 to 1, from the mean correlation of the windows after the deformation: unrelated images, which
/// any deformation brings closer, stay below the correlation at which it is one half.
[[nodiscard]] double deformation_confidence(const Deformation& found, int dimensions);

}  // namespace warpalign::detail
