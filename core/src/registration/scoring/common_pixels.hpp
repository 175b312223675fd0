// Finds the pixels of the overlap of two images under two transforms.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Two images and the weights of their pixels (1 or less), row by row. Both weights are empty if
/// there are no masks.
struct WeightedPair {
  Shape coarse, fine;
  std::span<const float> coarse_weight, fine_weight;
};

/// Sets `counts`, row by row, to 1 for each pixel of the coarse image that both transforms map into
/// the fine one, at least one pixel inside its border, if all three pixels have full weight; to 0
/// for the others. Returns the root mean square distance in the fine image, in pixels, between the
/// positions to which the two transforms map these pixels; 0 if there are none.
double find_common(const WeightedPair& pair, const Homography& simpler, const Homography& richer,
                   std::vector<std::uint8_t>& counts);

}  // namespace warpalign::detail
