// The oracle of the maximum.
#pragma once

#include "reference/plane.hpp"

#include <limits>

namespace reference {

struct Peak {
  double value = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
};

/// The first of equal maxima, row by row.
inline Peak peak(const Plane& image) {
  Peak best{-std::numeric_limits<double>::infinity(), 0, 0};
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (image.at(x, y) > best.value) best = {image.at(x, y), x, y};
    }
  }
  return best;
}

}  // namespace reference
