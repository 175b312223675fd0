// Images without some of their channels.
#pragma once

#include "io/image_file.hpp"

namespace warpalign::program {

/// The first `count` channels, as for an image whose last channel is alpha.
[[nodiscard]] LoadedImage first_channels(LoadedImage image, int count);

}  // namespace warpalign::program
