// Random test images, the same on every machine and run.
#pragma once

#include "reference/plane.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace test {

/// Independent values, uniform in [low, high), each exactly a float.
reference::Plane random_plane(std::int64_t width, std::int64_t height, double low, double high,
                              std::uint32_t seed);
/// Integers from 0 to `largest`.
reference::Plane random_integers(std::int64_t width, std::int64_t height, std::uint32_t largest,
                                 std::uint32_t seed);
/// The half spectrum (w / 2 + 1 columns) of a random real image, rounded to floats.
reference::Spectrum random_spectrum(std::int64_t width, std::int64_t height, std::uint32_t seed);

struct Size {
  std::int64_t width;
  std::int64_t height;
};
std::string to_string(const Size& size);

/// Sizes that are degenerate, odd, prime, powers of two, multiples of a tile, and one more than a
/// multiple.
const std::vector<Size>& sizes();

}  // namespace test
