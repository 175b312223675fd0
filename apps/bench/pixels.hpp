// The pixels of the benchmarks, identical on every machine and with every standard library.
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

/// Independent random values: f32 and c32 (each part) from 0 up to 1, u8 from 0 to 255. The most
/// recent arrays are cached, so that consecutive cases share them.
[[nodiscard]] Pixels noise(PixelType type, const Shape& shape);

/// Two 8-bit views of one scene of soft blobs of every size.
struct Pair {
  Pixels reference;
  Pixels moving;
  Affine truth;  ///< reference pixel coordinates to moving ones
};

/// Square images of `side` pixels, rotated by 20 degrees, scaled by 1.1 and shifted. The most
/// recent pair is cached.
[[nodiscard]] const Pair& registration_pair(std::int64_t side);

/// An 8-bit view of one of many unrelated scenes of this kind. `to_scene` maps its pixels to the
/// scene.
[[nodiscard]] Pixels view_of_scene(std::int64_t side, std::uint64_t number,
                                   const Homography& to_scene);

/// The reference view of the scene, as f32 intensities from 0 to 255.
[[nodiscard]] Pixels scene(std::int64_t side);
/// Another view of the scene. `to_scene` maps its pixels to the scene.
[[nodiscard]] Pixels scene(std::int64_t side, const Affine& to_scene);

}  // namespace warpalign::program::bench
