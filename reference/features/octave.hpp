// The oracle of octaves of a scale space (Lowe 2004).
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reference {

/// A Gaussian that ends at 3 sigma, rounded up, from one end to the other; its weights sum to 1.
inline std::vector<double> octave_weights(double sigma) {
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  if (radius == 0) return {1};
  std::vector<double> weights;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    weights.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Pixels beyond the edges repeat the edge.
inline Plane octave_smoothed(const Plane& image, double sigma) {
  const std::vector<double> weights = octave_weights(sigma);
  const auto radius = static_cast<std::int64_t>(weights.size() / 2);
  Plane rows(image.width, image.height);
  Plane smoothed(image.width, image.height);
  for (const bool along_rows : {true, false}) {
    const Plane& from = along_rows ? image : rows;
    Plane& to = along_rows ? rows : smoothed;
    for (std::int64_t y = 0; y < image.height; ++y) {
      for (std::int64_t x = 0; x < image.width; ++x) {
        double sum = 0;
        for (std::int64_t i = -radius; i <= radius; ++i) {
          const std::int64_t u =
              std::clamp<std::int64_t>(x + (along_rows ? i : 0), 0, image.width - 1);
          const std::int64_t v =
              std::clamp<std::int64_t>(y + (along_rows ? 0 : i), 0, image.height - 1);
          sum += weights[static_cast<std::size_t>(i + radius)] * from.at(u, v);
        }
        to.at(x, y) = sum;
      }
    }
  }
  return smoothed;
}

/// Every `step`-th pixel, starting with the first.
inline Plane every(const Plane& image, std::int64_t step) {
  Plane taken(image.width / step, image.height / step);
  for (std::int64_t y = 0; y < taken.height; ++y) {
    for (std::int64_t x = 0; x < taken.width; ++x) taken.at(x, y) = image.at(x * step, y * step);
  }
  return taken;
}

/// The images of one plane, one for each Gaussian. Sigmas are in pixels of the octave; the first
/// image is smoothed before it is subsampled.
inline std::vector<Plane> octave(const Plane& source, std::int64_t step,
                                 const std::vector<double>& sigmas) {
  std::vector<Plane> images;
  for (const double sigma : sigmas) {
    images.push_back(images.empty() ? every(octave_smoothed(source, sigma), step)
                                    : octave_smoothed(images.back(), sigma));
  }
  return images;
}

}  // namespace reference
