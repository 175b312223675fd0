// Copies of boxes of pixels between a whole array and a dense one.
#pragma once

#include <warpalign/tiles.hpp>

#include <cstddef>

namespace warpalign::detail {

/// Whether the pixels of a box lie densely in the array, as those of a box that goes on at the
/// array's beginning do not.
[[nodiscard]] bool is_dense(const Shape& shape, const Region& region) noexcept;
/// Where the first pixel of a box lies, in bytes.
[[nodiscard]] std::size_t offset_of(const Shape& shape, const Region& region,
                                    std::size_t pixel_bytes) noexcept;
/// Copies a box of pixels to dense ones. The box may extend beyond the array's end along any axis,
/// and then goes on at its beginning.
void gather(const std::byte* array, const Shape& shape, const Region& region,
            std::size_t pixel_bytes, std::byte* pixels);
/// Copies those pixels of a dense box that are in `part`, which is within the box and the array, to
/// the array.
void scatter(const std::byte* pixels, const Region& box, std::byte* array, const Shape& shape,
             const Region& part, std::size_t pixel_bytes);

}  // namespace warpalign::detail
