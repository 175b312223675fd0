// The oracle's three-dimensional arrays: dense, row-major, double precision.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

/// A dense array, x fastest, then y, then z.
template <class T>
struct VolumeOf {
  std::int64_t width = 0;
  std::int64_t height = 1;
  std::int64_t depth = 1;
  std::vector<T> values;

  VolumeOf() = default;
  explicit VolumeOf(std::int64_t w, std::int64_t h = 1, std::int64_t d = 1)
      : width(w), height(h), depth(d), values(static_cast<std::size_t>(w * h * d)) {}
  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return static_cast<std::size_t>((z * height + y) * width + x);
  }
  T& at(std::int64_t x, std::int64_t y = 0, std::int64_t z = 0) { return values[index(x, y, z)]; }
  const T& at(std::int64_t x, std::int64_t y = 0, std::int64_t z = 0) const {
    return values[index(x, y, z)];
  }
  [[nodiscard]] std::array<std::int64_t, 3> extents() const { return {width, height, depth}; }
};

using Volume = VolumeOf<double>;
using ComplexVolume = VolumeOf<std::complex<double>>;

template <class Visit>
void for_each_voxel(const std::array<std::int64_t, 3>& extents, Visit&& visit) {
  for (std::int64_t z = 0; z < extents[2]; ++z) {
    for (std::int64_t y = 0; y < extents[1]; ++y) {
      for (std::int64_t x = 0; x < extents[0]; ++x) visit(x, y, z);
    }
  }
}

}  // namespace reference
