// The oracle of the Sobel operator.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>

namespace reference {

/// Section 4: nine loads per pixel, edges repeated, sqrt(gx^2 + gy^2).
inline Plane sobel(const Plane& image) {
  constexpr int taps[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
  Plane result(image.width, image.height);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      double gx = 0;
      double gy = 0;
      for (int j = -1; j <= 1; ++j) {
        for (int i = -1; i <= 1; ++i) {
          const double value = image.at(std::clamp<std::int64_t>(x + i, 0, image.width - 1),
                                        std::clamp<std::int64_t>(y + j, 0, image.height - 1));
          // Skips weights of 0, so that NaN has no effect there.
          if (taps[j + 1][i + 1] != 0) gx += taps[j + 1][i + 1] * value;
          if (taps[i + 1][j + 1] != 0) gy += taps[i + 1][j + 1] * value;
        }
      }
      result.at(x, y) = std::sqrt(gx * gx + gy * gy);
    }
  }
  return result;
}

}  // namespace reference
