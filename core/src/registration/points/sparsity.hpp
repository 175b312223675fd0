// Whether an image is sparse: few bright spots on an even background.
#pragma once

#include <span>

namespace warpalign::detail {

/// The intensities of an image, or of a smaller copy of it.
struct SparsityInput {
  std::span<const float> values;
  std::span<const float> weights;  ///< empty, or 0 for each pixel that is ignored
  double mean = 0, deviation = 0, maximum = 0;
};

/// Whether the background is even: at most a tenth of the pixels is brighter than its noise,
/// and hardly any is darker. Costs nothing for images without strong highlights.
[[nodiscard]] bool is_sparse(const SparsityInput& image);

}  // namespace warpalign::detail
