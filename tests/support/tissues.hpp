// Volumes of a few tissues, in several contrasts.
#pragma once

#include "support/volume_pairs.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

/// The intensities of four tissues.
using Contrast = std::array<float, 4>;
inline constexpr Contrast usual_contrast{0, 0.33F, 0.67F, 1};
inline constexpr Contrast reversed_contrast{1, 0.67F, 0.33F, 0};
// the usual contrast to the power 2.5
inline constexpr Contrast bent_contrast{0, 0.06F, 0.37F, 1};
inline constexpr Contrast permuted_contrast{0.6F, 0, 1, 0.3F};

/// Turns the smooth volumes of draw_pair() and draw_rotated_pair() into tissues between level
/// surfaces, with borders one or two voxels wide. In smooth volumes the gradient at each position
/// would depend on the contrast.
inline std::vector<float> tissues(std::vector<float> drawn, const Contrast& contrast) {
  constexpr std::array<float, 3> borders{0.35F, 0.5F, 0.65F};
  constexpr float width = 0.02F;
  for (float& voxel : drawn) {
    float grey = contrast[0];
    for (std::size_t i = 0; i < borders.size(); ++i) {
      grey += (contrast[i + 1] - contrast[i]) / (1 + std::exp((borders[i] - voxel) / width));
    }
    voxel = grey;
  }
  return drawn;
}

/// Replaces both volumes by tissues. `seed` selects one of three other contrasts for the moving
/// volume.
inline void apply_other_contrasts(HostPairOfVolumes& pair, std::uint32_t seed) {
  constexpr std::array contrasts{reversed_contrast, bent_contrast, permuted_contrast};
  pair.reference = tissues(pair.reference, usual_contrast);
  pair.moving = tissues(pair.moving, contrasts.at(seed % contrasts.size()));
}

}  // namespace test
