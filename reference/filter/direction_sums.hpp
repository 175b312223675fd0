// The oracle of the sums of a field of orientations.
#pragma once

#include "reference/plane.hpp"

#include <cstddef>

namespace reference {

struct DirectionSums {
  double cosines = 0;
  double sines = 0;
  double squares = 0;
  double pixels = 0;  ///< with an orientation
};

inline DirectionSums direction_sums(const Plane& cosines, const Plane& sines) {
  DirectionSums sums;
  for (std::size_t i = 0; i < cosines.values.size(); ++i) {
    const double c = cosines.values[i];
    const double s = sines.values[i];
    sums.cosines += c;
    sums.sines += s;
    sums.squares += c * c + s * s;
    sums.pixels += c * c + s * s > 0 ? 1 : 0;
  }
  return sums;
}

}  // namespace reference
