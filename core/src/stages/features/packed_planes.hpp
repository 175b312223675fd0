// Checks and tables of packed planes: images of several sizes in one buffer.
#pragma once

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Throws Error(invalid_argument) for an empty list, for invalid shapes, and if `images` times all
/// planes have more pixels than an int32 can count.
void check_planes(const char* stage, std::span<const Shape> planes, std::int64_t images);

/// The first pixel, width and height of each plane.
[[nodiscard]] std::vector<std::int32_t> words_of(std::span<const Shape> planes);

/// The size of `images` times all planes of floats, in bytes.
[[nodiscard]] std::size_t packed_bytes(std::span<const Shape> planes, std::int64_t images);

}  // namespace warpalign::detail
