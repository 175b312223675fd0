// Turning a picture.
#pragma once

#include <warpalign/geometry.hpp>

namespace warpalign::program {

/// Output to input of turning the picture by `degrees`, counter-clockwise as displayed, about
/// `centre`. Multiples of 90 degrees are exact.
[[nodiscard]] Affine rotation_about(const Point& centre, double degrees) noexcept;

}  // namespace warpalign::program
