// The oracle of the smoothing.
#pragma once

#include "reference/filter/gaussian.hpp"

namespace reference {

/// The sampling grid: pixel (i, j) of the output lies at origin + spacing (i, j).
struct SampleGrid {
  std::int64_t width = 0, height = 0;
  double origin_x = 0, origin_y = 0;
  double spacing = 1;
};

struct Smoothed {
  Plane value;
  Plane weight;  ///< the part of the Gaussian's weight on valid pixels of the image
};

/// Means of the valid pixels, weighted by a Gaussian truncated at 4 sigma along each axis, in two
/// dimensions at once.
inline Smoothed smooth(const Plane& image, const Plane* mask, const SampleGrid& grid,
                       double sigma) {
  Smoothed result{Plane(grid.width, grid.height), Plane(grid.width, grid.height)};
  for (std::int64_t j = 0; j < grid.height; ++j) {
    for (std::int64_t i = 0; i < grid.width; ++i) {
      const Position at{grid.origin_x + grid.spacing * static_cast<double>(i),
                        grid.origin_y + grid.spacing * static_cast<double>(j)};
      double sum = 0;
      double counted = 0;
      double total = 0;
      around(image, at, sigma, [&](std::int64_t x, std::int64_t y, double weight) {
        total += weight;
        if (mask != nullptr && mask->at(x, y) == 0) return;
        sum += weight * image.at(x, y);
        counted += weight;
      });
      result.value.at(i, j) = counted > 0 ? sum / counted : 0;
      result.weight.at(i, j) = counted / total;
    }
  }
  return result;
}

}  // namespace reference
