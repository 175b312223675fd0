// The mean of several transforms, and the way to it.
#pragma once

#include <warpalign/pixel.hpp>
#include <warpalign/transform.hpp>

#include <optional>
#include <span>

namespace warpalign::detail {

/// With the mean m of some transforms, of which each is p -> p + u(p).
struct MeanShape {
  Transform towards;  ///< the inverse of m, as a field on the grid
  double change = 0;  ///< the root mean square of the displacement of m, in pixels
};

/// The mean of transforms at the pixels of a grid; at least one must not be empty. Throws
/// Error(invalid_image) if the mean folds.
[[nodiscard]] MeanShape mean_shape(std::span<const std::optional<Transform>> transforms,
                                   const Shape& shape, int dimensions);

}  // namespace warpalign::detail
