// The size of an image in memory.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstddef>

namespace warpalign::detail {

/// The bytes of dense pixels. Throws Error(invalid_argument) in the name of `stage` for extents
/// below 1, and for images that no memory holds.
[[nodiscard]] std::size_t checked_image_bytes(const char* stage, PixelType type,
                                              const Shape& shape);

}  // namespace warpalign::detail
