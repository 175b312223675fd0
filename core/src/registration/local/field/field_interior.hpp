// The pixels that a displacement field maps into the frame.
#pragma once

#include "registration/local/windows/window_fit.hpp"

#include <warpalign/local_motion.hpp>

namespace warpalign::detail {

/// The rectangle that remains of the frame without the rows and columns at its edges that the field
/// maps, at least in part, outside of the frame.
[[nodiscard]] PixelRange interior_of(const DisplacementField& field);

}  // namespace warpalign::detail
