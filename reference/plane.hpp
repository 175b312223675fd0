// The oracle's arrays: dense, row-major, double precision.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

template <class T>
struct PlaneOf {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<T> values;

  PlaneOf() = default;
  PlaneOf(std::int64_t w, std::int64_t h)
      : width(w), height(h), values(static_cast<std::size_t>(w * h)) {}
  T& at(std::int64_t x, std::int64_t y) { return values[static_cast<std::size_t>(y * width + x)]; }
  const T& at(std::int64_t x, std::int64_t y) const {
    return values[static_cast<std::size_t>(y * width + x)];
  }
};

using Plane = PlaneOf<double>;
using Spectrum = PlaneOf<std::complex<double>>;

}  // namespace reference
