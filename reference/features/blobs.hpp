// The oracle of extrema of differences of Gaussians (Lowe 2004).
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace reference {

struct Blob {
  std::int64_t image = 0;
  double x = 0, y = 0, scale = 0, strength = 0;
  /// the margin by which all conditions hold, relative to the compared values; negative if one
  /// fails
  double margin = 0;
};

/// The root mean square deviation from the mean, over every eighth pixel along both axes.
inline double deviation_of_blobs(const Plane& image) {
  std::vector<double> values;
  for (std::int64_t y = 0; y < image.height; y += 8) {
    for (std::int64_t x = 0; x < image.width; x += 8) values.push_back(image.at(x, y));
  }
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean) / count;
  return std::sqrt(square);
}

/// The position of the extremum of the parabola through three values, relative to the middle one.
inline double parabola_vertex(double before, double here, double after) {
  const double bend = before - 2 * here + after;
  return bend == 0 ? 0 : std::clamp((before - after) / (2 * bend), -0.5, 0.5);
}

/// The margin by which the ratio of the principal curvatures is below 10, relative to their
/// squares.
inline double edge_margin(const Plane& difference, std::int64_t x, std::int64_t y) {
  const auto at = [&](std::int64_t u, std::int64_t v) { return difference.at(x + u, y + v); };
  const double xx = at(1, 0) - 2 * at(0, 0) + at(-1, 0);
  const double yy = at(0, 1) - 2 * at(0, 0) + at(0, -1);
  const double xy = (at(1, 1) - at(-1, 1) - at(1, -1) + at(-1, -1)) / 4;
  const double size = at(0, 0) * at(0, 0) + xx * xx + yy * yy + xy * xy;
  // For curvatures a and b of equal sign, a / b < 10 if (a + b)^2 / (a b) < 11^2 / 10.
  const double determinant = xx * yy - xy * xy;
  const double below = 12.1 * determinant - (xx + yy) * (xx + yy);
  return std::min(determinant, below) / size;
}

/// Extrema in an octave's images of one plane, with a margin of at least `least_margin`.
inline std::vector<Blob> blobs(const std::vector<Plane>& images, double least_contrast,
                               double deviation, double least_margin) {
  std::vector<Plane> differences;
  for (std::size_t i = 0; i + 1 < images.size(); ++i) {
    differences.emplace_back(images[i].width, images[i].height);
    for (std::size_t k = 0; k < images[i].values.size(); ++k) {
      differences[i].values[k] = images[i + 1].values[k] - images[i].values[k];
    }
  }
  std::vector<Blob> found;
  for (std::size_t i = 1; i + 1 < differences.size(); ++i) {
    const Plane& difference = differences[i];
    for (std::int64_t y = 5; y < difference.height - 5; ++y) {
      for (std::int64_t x = 5; x < difference.width - 5; ++x) {
        const double here = difference.at(x, y);
        if (here == 0) continue;
        const double size = std::abs(here);
        double margin = (size - least_contrast * deviation) / size;
        for (std::size_t s = i - 1; s <= i + 1; ++s) {
          for (std::int64_t v = y - 1; v <= y + 1; ++v) {
            for (std::int64_t u = x - 1; u <= x + 1; ++u) {
              if (s == i && u == x && v == y) continue;
              const double neighbour = differences[s].at(u, v) * (here > 0 ? 1 : -1);
              margin = std::min(margin, (size - neighbour) / size);
            }
          }
        }
        if (margin >= least_margin) margin = std::min(margin, edge_margin(difference, x, y));
        if (margin < least_margin) continue;
        const auto vertex = [&](double before, double after) {
          return parabola_vertex(before, here, after);
        };
        found.push_back(
            {static_cast<std::int64_t>(i),
             static_cast<double>(x) + vertex(difference.at(x - 1, y), difference.at(x + 1, y)),
             static_cast<double>(y) + vertex(difference.at(x, y - 1), difference.at(x, y + 1)),
             static_cast<double>(i) +
                 vertex(differences[i - 1].at(x, y), differences[i + 1].at(x, y)),
             size, margin});
      }
    }
  }
  return found;
}

}  // namespace reference
