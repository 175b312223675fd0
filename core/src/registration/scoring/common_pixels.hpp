// Which pixels two images have in common under two transforms.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Two images, and how much each of their pixels counts: 1 or less, row by row. Both weights are
/// empty where there are no masks.
struct WeightedPair {
  Shape coarse, fine;
  std::span<const float> coarse_weight, fine_weight;
};

/// Writes to `counts`, row by row, 1 for each pixel of the coarse image that both transforms map
/// into the fine one, at least a pixel from its border, if all three pixels count fully; 0 for the
/// others. Returns how far apart the transforms place these pixels: the root mean square of the
/// distances in the fine image, in pixels; 0 if there are none.
double find_common(const WeightedPair& pair, const Homography& simpler, const Homography& richer,
                   std::vector<std::uint8_t>& counts);

}  // namespace warpalign::detail
