// The orientation of images that EXIF or TIFF tags describe, in JSON.
#pragma once

#include "reports/json.hpp"

namespace warpalign::program {

/// Adds the member `orientation` with the values of EXIF that were applied to the reference and the
/// moving image, unless both were upright.
void add_orientation(Json& object, int reference, int moving);

}  // namespace warpalign::program
