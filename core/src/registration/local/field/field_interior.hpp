// The pixels whose places under a displacement field lie within the frame.
#pragma once

#include "registration/local/windows/window_fit.hpp"

#include <warpalign/local_motion.hpp>

namespace warpalign::detail {

/// A rectangle of such pixels, as large as whole rows and columns at the edges allow.
[[nodiscard]] PixelRange interior_of(const DisplacementField& field);

}  // namespace warpalign::detail
