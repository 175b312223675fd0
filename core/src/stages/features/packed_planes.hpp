// Checks and tables of images of several sizes, one behind the other in one buffer.
#pragma once

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Refuses none, shapes that a device does not take, and more pixels in `images` times all planes
/// than an int32 counts.
void check_planes(const char* stage, std::span<const Shape> planes, std::int64_t images);

/// First pixel, width and height of each.
[[nodiscard]] std::vector<std::int32_t> words_of(std::span<const Shape> planes);

/// The size of `images` times all planes, of floats.
[[nodiscard]] std::size_t packed_bytes(std::span<const Shape> planes, std::int64_t images);

}  // namespace warpalign::detail
