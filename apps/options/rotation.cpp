// The transform that rotates an image.
#include "options/rotation.hpp"

#include <cmath>
#include <numbers>

namespace warpalign::program {
namespace {

struct Direction {
  double cos;
  double sin;
};

/// Splits the angle into the nearest multiple of 90 degrees and a remainder, so that the cosine and
/// sine of such multiples are exactly -1, 0 or 1.
Direction direction_of(double degrees) {
  int quarters = 0;
  const double rest = std::remquo(degrees, 90.0, &quarters) * std::numbers::pi / 180;
  Direction direction{std::cos(rest), std::sin(rest)};
  for (int i = 0; i < (quarters & 3); ++i) direction = {-direction.sin, direction.cos};
  return direction;
}

}  // namespace

Affine rotation_about(const Point& centre, double degrees) noexcept {
  const auto [cos, sin] = direction_of(degrees);
  return {cos, -sin, centre.x - cos * centre.x + sin * centre.y,
          sin, cos,  centre.y - sin * centre.x - cos * centre.y};
}

}  // namespace warpalign::program
