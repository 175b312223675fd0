// The transform that rotates an image.
#pragma once

#include <warpalign/geometry.hpp>

namespace warpalign::program {

/// The output-to-input transform that rotates an image by `degrees`, counter-clockwise as
/// displayed, about `centre`. Multiples of 90 degrees are exact.
[[nodiscard]] Affine rotation_about(const Point& centre, double degrees) noexcept;

}  // namespace warpalign::program
