// Copies of boxes of pixels between a whole array and a dense one.
#pragma once

#include <warpalign/tiles.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// The pixels of a box of a dense array: a pointer into the array where they lie densely there, and
/// else into `staged`, to which they are copied. The box may extend beyond the array's end along
/// any axis, and then goes on at its beginning.
[[nodiscard]] const std::byte* gathered(const std::byte* array, const Shape& shape,
                                        const Region& region, std::size_t pixel_bytes,
                                        std::vector<std::byte>& staged);

/// Whether the pixels of a box within the array lie densely there.
[[nodiscard]] bool is_dense(const Shape& shape, const Region& region) noexcept;
/// Where the first pixel of a box lies, in bytes.
[[nodiscard]] std::size_t offset_of(const Shape& shape, const Region& region,
                                    std::size_t pixel_bytes) noexcept;
/// Copies dense pixels to a box within the array.
void scatter(const std::byte* pixels, std::byte* array, const Shape& shape, const Region& region,
             std::size_t pixel_bytes);

}  // namespace warpalign::detail
