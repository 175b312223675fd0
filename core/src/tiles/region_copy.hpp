// Copies of boxes of pixels between a whole array and a dense one.
#pragma once

#include <warpalign/tiles.hpp>

#include <cstddef>

namespace warpalign::detail {

/// Whether the pixels of a box are contiguous in the array. A box that wraps around is not.
[[nodiscard]] bool is_dense(const Shape& shape, const Region& region) noexcept;
/// The offset of the first pixel of a box, in bytes.
[[nodiscard]] std::size_t offset_of(const Shape& shape, const Region& region,
                                    std::size_t pixel_bytes) noexcept;
/// Copies a box of an array to a dense array. A box that extends beyond the end of an axis wraps
/// around to its beginning.
void gather(const std::byte* array, const Shape& shape, const Region& region,
            std::size_t pixel_bytes, std::byte* pixels);
/// Copies the pixels of `part` from a dense box to the array. `part` must lie within the box and
/// the array.
void scatter(const std::byte* pixels, const Region& box, std::byte* array, const Shape& shape,
             const Region& part, std::size_t pixel_bytes);

}  // namespace warpalign::detail
