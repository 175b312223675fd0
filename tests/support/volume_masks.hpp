// Masks of volumes, and volumes with other values under a mask.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace test {

using VolumeMask = std::vector<std::uint8_t>;

/// Voxels from `first` up to but excluding `end`.
struct VoxelBox {
  std::array<std::int64_t, 3> first{}, end{};

  [[nodiscard]] bool holds(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return x >= first[0] && x < end[0] && y >= first[1] && y < end[1] && z >= first[2] &&
           z < end[2];
  }
};

/// A mask that is 0 in the box and 1 elsewhere, or with `inside` the other way round.
inline VolumeMask mask_of(const warpalign::Shape& shape, const VoxelBox& box, bool inside = false) {
  VolumeMask mask;
  mask.reserve(static_cast<std::size_t>(shape.pixels()));
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        mask.push_back(box.holds(x, y, z) == inside ? 1 : 0);
      }
    }
  }
  return mask;
}

inline warpalign::HostVolume view_of(const VolumeMask& mask, const warpalign::Shape& shape) {
  return {mask.data(), warpalign::PixelType::u8, shape};
}

/// The volume with `value` where the mask is 0.
inline std::vector<float> under_mask(std::vector<float> volume, const VolumeMask& mask,
                                     float value) {
  for (std::size_t i = 0; i < volume.size(); ++i) {
    if (mask[i] == 0) volume[i] = value;
  }
  return volume;
}

/// The volume with values of any size where the mask is 0, among them NaN and infinities.
inline std::vector<float> garbage_under_mask(std::vector<float> volume, const VolumeMask& mask,
                                             std::uint32_t seed) {
  using Limits = std::numeric_limits<float>;
  constexpr std::array<float, 6> garbage{
      Limits::quiet_NaN(), Limits::infinity(), 1e38F, -1e38F, -Limits::infinity(), 7};
  std::mt19937 engine(seed);
  for (std::size_t i = 0; i < volume.size(); ++i) {
    const float value = garbage[engine() % garbage.size()];
    if (mask[i] == 0) volume[i] = value;
  }
  return volume;
}

}  // namespace test
