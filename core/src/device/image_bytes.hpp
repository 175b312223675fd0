// The size of an image in memory.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstddef>

namespace warpalign::detail {

/// The bytes of dense pixels. Throws Error(invalid_argument), which names `stage`, for extents
/// below 1, and for images that are too large for any memory.
[[nodiscard]] std::size_t checked_image_bytes(const char* stage, PixelType type,
                                              const Shape& shape);

}  // namespace warpalign::detail
