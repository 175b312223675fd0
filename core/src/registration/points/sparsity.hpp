// How sparse an image is: how much of it is brighter than an even background.
#pragma once

#include <span>

namespace warpalign::detail {

/// The intensities of an image, or of a smaller copy of it.
struct SparsityInput {
  std::span<const float> values;
  std::span<const float> weights;  ///< empty, or 0 for each pixel that is ignored
  double mean = 0, deviation = 0, maximum = 0;
};

/// The fraction of the pixels that are brighter than the noise of an even background; 1 if some are
/// darker, or if the image has no strong highlights, which costs nothing to see.
[[nodiscard]] double bright_fraction(const SparsityInput& image);

/// Up to this fraction an image may show point sources.
inline constexpr double max_bright_fraction = 0.1;
/// Up to this fraction it shows little else. Star fields with trails reach 0.028, a field of
/// galaxies 0.044 to 0.13.
inline constexpr double max_sparse_fraction = 0.03;

}  // namespace warpalign::detail
