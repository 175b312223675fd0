// The oracle of the centred magnitude.
#pragma once

#include "reference/plane.hpp"

#include <cmath>

namespace reference {

/// |F|^exponent with the zero frequency in row height / 2.
inline Plane magnitude(const Spectrum& half, double exponent) {
  Plane result(half.width, half.height);
  for (std::int64_t v = 0; v < half.height; ++v) {
    const std::int64_t row = (v + half.height / 2) % half.height;
    for (std::int64_t u = 0; u < half.width; ++u) {
      result.at(u, row) = std::pow(std::abs(half.at(u, v)), exponent);
    }
  }
  return result;
}

}  // namespace reference
