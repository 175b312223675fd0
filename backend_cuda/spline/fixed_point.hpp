// Fixed-point coordinates: multiples of 2^-32 of a pixel, in 64 bits.
//
// The step from pixel to pixel is rounded by up to half such a multiple, so the points of a tile
// are off by less than 2^-26 of a pixel.
#pragma once

#include <cmath>

namespace warpalign::cuda {

inline constexpr double fixed_one = 0x1p32;

[[nodiscard]] inline long long to_fixed(double step) { return std::llrint(step * fixed_one); }

}  // namespace warpalign::cuda
