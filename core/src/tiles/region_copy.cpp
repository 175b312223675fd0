// Copies of boxes of pixels between a whole array and a dense one.
#include "tiles/region_copy.hpp"

#include <algorithm>
#include <cstring>

namespace warpalign::detail {
namespace {

bool is_within(const Shape& shape, const Region& region) noexcept {
  return region.begin[0] + region.shape.width <= shape.width &&
         region.begin[1] + region.shape.height <= shape.height &&
         region.begin[2] + region.shape.depth <= shape.depth;
}

/// Copies a row of a box that may wrap around.
void copy_row(const std::byte* row, std::int64_t width, std::int64_t begin, std::int64_t length,
              std::size_t pixel_bytes, std::byte* target) {
  for (std::int64_t done = 0; done < length;) {
    const std::int64_t from = (begin + done) % width;
    const std::int64_t count = std::min(length - done, width - from);
    const auto bytes = static_cast<std::size_t>(count) * pixel_bytes;
    std::memcpy(target, row + static_cast<std::size_t>(from) * pixel_bytes, bytes);
    target += bytes;
    done += count;
  }
}

}  // namespace

bool is_dense(const Shape& shape, const Region& region) noexcept {
  if (!is_within(shape, region)) return false;
  const bool whole_rows = region.shape.width == shape.width;
  const bool whole_planes = whole_rows && region.shape.height == shape.height;
  if (region.shape.depth > 1) return whole_planes;
  return whole_rows || region.shape.height == 1;
}

std::size_t offset_of(const Shape& shape, const Region& region, std::size_t pixel_bytes) noexcept {
  const std::int64_t row = region.begin[2] * shape.height + region.begin[1];
  return static_cast<std::size_t>(row * shape.width + region.begin[0]) * pixel_bytes;
}

void gather(const std::byte* array, const Shape& shape, const Region& region,
            std::size_t pixel_bytes, std::byte* pixels) {
  const auto row_bytes = static_cast<std::size_t>(region.shape.width) * pixel_bytes;
  for (std::int64_t z = 0; z < region.shape.depth; ++z) {
    const std::int64_t plane = (region.begin[2] + z) % shape.depth;
    for (std::int64_t y = 0; y < region.shape.height; ++y) {
      const std::int64_t row = plane * shape.height + (region.begin[1] + y) % shape.height;
      copy_row(array + static_cast<std::size_t>(row * shape.width) * pixel_bytes, shape.width,
               region.begin[0], region.shape.width, pixel_bytes, pixels);
      pixels += row_bytes;
    }
  }
}

void scatter(const std::byte* pixels, const Region& box, std::byte* array, const Shape& shape,
             const Region& part, std::size_t pixel_bytes) {
  Region row = part, row_in_box;
  row.shape = {part.shape.width, 1, 1};
  for (std::int64_t z = 0; z < part.shape.depth; ++z) {
    row.begin[2] = part.begin[2] + z;
    for (std::int64_t y = 0; y < part.shape.height; ++y) {
      row.begin[1] = part.begin[1] + y;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        row_in_box.begin[axis] = row.begin[axis] - box.begin[axis];
      }
      std::memcpy(array + offset_of(shape, row, pixel_bytes),
                  pixels + offset_of(box.shape, row_in_box, pixel_bytes),
                  static_cast<std::size_t>(part.shape.width) * pixel_bytes);
    }
  }
}

}  // namespace warpalign::detail
