// The pixels that benchmarks run on: the same with every standard library and on every machine.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace warpalign::program::bench {

/// Bytes in host memory that several cases share.
using Pixels = std::shared_ptr<const std::vector<std::byte>>;

template <class Value>
[[nodiscard]] const Value* values_of(const Pixels& pixels) noexcept {
  return reinterpret_cast<const Value*>(pixels->data());
}

/// Independent values: f32 and c32 (each part) from 0 up to 1, u8 from 0 to 255. The most
/// recent arrays are kept, so that consecutive cases share them.
[[nodiscard]] Pixels noise(PixelType type, const Shape& shape);

/// Two 8-bit views of one scene of soft blobs of every size.
struct Pair {
  Pixels reference;
  Pixels moving;
  Affine truth;  ///< reference pixel coordinates to moving ones
};

/// Square images of `side` pixels, rotated by 20 degrees, scaled by 1.1 and shifted. The most
/// recent pair is kept.
[[nodiscard]] const Pair& registration_pair(std::int64_t side);

/// An 8-bit view, whose pixels show what `to_scene` maps them to, of one of many such scenes that
/// have nothing in common.
[[nodiscard]] Pixels view_of_scene(std::int64_t side, std::uint64_t number,
                                   const Homography& to_scene);

/// The scene's reference view, as f32 grey levels from 0 to 255.
[[nodiscard]] Pixels scene(std::int64_t side);
/// Another view of it, whose pixels show what `to_scene` maps them to.
[[nodiscard]] Pixels scene(std::int64_t side, const Affine& to_scene);

}  // namespace warpalign::program::bench
