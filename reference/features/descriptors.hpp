// The oracle of dominant orientations and descriptors (Lowe 2004; square roots after Arandjelovic &
// Zisserman 2012).
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace reference {

struct DescribedKeypoint {
  double x = 0, y = 0, sigma = 0, radians = 0;
};

struct SampledGradient {
  double x = 0, y = 0;  ///< from the keypoint to the pixel
  double length = 0;    ///< 0 if there is no such pixel
  double turns = 0;     ///< in [0, 1)
};

/// Gradients at 20 x 20 samples around the keypoint, row by row, in a square of this side, which is
/// rotated by `radians`. `undecided` is the smallest distance of a sample from the middle between
/// two pixels.
struct SampledGradients {
  std::vector<SampledGradient> samples;
  double undecided = 1;
};

inline SampledGradients sampled_gradients(const Plane& image, const DescribedKeypoint& place,
                                          double side, double radians) {
  constexpr int samples = 20;
  SampledGradients result;
  const double c = std::cos(radians);
  const double s = std::sin(radians);
  for (int j = 0; j < samples; ++j) {
    for (int i = 0; i < samples; ++i) {
      const double along = ((i + 0.5) / samples - 0.5) * side;
      const double down = ((j + 0.5) / samples - 0.5) * side;
      const double u = place.x + c * along - s * down + 0.5;
      const double v = place.y + s * along + c * down + 0.5;
      for (const double position : {u, v}) {
        result.undecided = std::min(result.undecided, std::abs(position - std::round(position)));
      }
      const auto x = static_cast<std::int64_t>(std::floor(u));
      const auto y = static_cast<std::int64_t>(std::floor(v));
      SampledGradient gradient;
      gradient.x = static_cast<double>(x) - place.x;
      gradient.y = static_cast<double>(y) - place.y;
      if (x > 0 && y > 0 && x < image.width - 1 && y < image.height - 1) {
        const double dx = image.at(x + 1, y) - image.at(x - 1, y);
        const double dy = image.at(x, y + 1) - image.at(x, y - 1);
        gradient.length = std::sqrt(dx * dx + dy * dy);
        const double turns = std::atan2(dy, dx) / (2 * std::numbers::pi);
        gradient.turns = turns - std::floor(turns);
      }
      result.samples.push_back(gradient);
    }
  }
  return result;
}

struct DominantOrientations {
  std::vector<double> radians;  ///< at most two, the highest peak first
  /// The smallest change that would give another result, in bins, or relative to the highest peak.
  double undecided = 1;
};

/// Peaks of a histogram of 36 bins, centred on multiples of 1/36 turn, which is smoothed twice by
/// (1, 2, 1) / 4: those of at least 0.8 of the highest one. Samples have the weights of a Gaussian
/// of 1.5 sigma, out to three times that.
inline DominantOrientations dominant_orientations(const Plane& image,
                                                  const DescribedKeypoint& place) {
  constexpr std::size_t bins = 36;
  const double sigma = 1.5 * place.sigma;
  const SampledGradients gradients = sampled_gradients(image, place, 6 * sigma, 0);
  DominantOrientations result;
  result.undecided = gradients.undecided;
  std::array<double, bins> histogram{};
  for (const SampledGradient& gradient : gradients.samples) {
    if (gradient.length == 0) continue;
    const double square = gradient.x * gradient.x + gradient.y * gradient.y;
    const double bin = gradient.turns * bins + 0.5;
    result.undecided = std::min(result.undecided, std::abs(bin - std::round(bin)));
    histogram[static_cast<std::size_t>(bin) % bins] +=
        gradient.length * std::exp(-square / (2 * sigma * sigma));
  }
  const auto before = [](std::size_t i) { return (i + bins - 1) % bins; };
  const auto after = [](std::size_t i) { return (i + 1) % bins; };
  for (int pass = 0; pass < 2; ++pass) {
    const std::array<double, bins> from = histogram;
    for (std::size_t i = 0; i < bins; ++i) {
      histogram[i] = (from[before(i)] + 2 * from[i] + from[after(i)]) / 4;
    }
  }
  const double highest = *std::max_element(histogram.begin(), histogram.end());
  if (highest == 0) return result;
  std::vector<std::size_t> peaks;
  for (std::size_t i = 0; i < bins; ++i) {
    const double above = histogram[i] - std::max(histogram[before(i)], histogram[after(i)]);
    const double over = histogram[i] - 0.8 * highest;
    if (over > -1e-3 * highest) {
      result.undecided = std::min(result.undecided, std::abs(above) / highest);
    }
    if (above > -1e-3 * highest) {
      result.undecided = std::min(result.undecided, std::abs(over) / highest);
    }
    if (above >= 0 && over >= 0) peaks.push_back(i);
  }
  std::stable_sort(peaks.begin(), peaks.end(),
                   [&](std::size_t a, std::size_t b) { return histogram[a] > histogram[b]; });
  for (std::size_t i = 0; i + 1 < peaks.size(); ++i) {
    const double apart = histogram[peaks[i]] - histogram[peaks[i + 1]];
    result.undecided = std::min(result.undecided, apart / highest);
  }
  if (peaks.size() > 2) peaks.resize(2);
  for (const std::size_t i : peaks) {
    const double bend = histogram[before(i)] - 2 * histogram[i] + histogram[after(i)];
    const double vertex = (histogram[before(i)] - histogram[after(i)]) / (2 * bend);
    result.radians.push_back((static_cast<double>(i) + vertex) * 2 * std::numbers::pi / bins);
  }
  return result;
}

struct Descriptor {
  std::vector<double> values;  ///< 4 rows of 4 cells, 8 orientations each
  double undecided = 1;        ///< as in SampledGradients
};

/// Each sample adds to the cells and orientations around it, in proportion to its distance from
/// them. A cell has a side of 3 sigma, and samples reach half a cell beyond the 4 x 4 cells. The
/// Gaussian's sigma is two cells. Values above 0.2 of the vector's length are clipped to that. The
/// result is the square root of each value divided by the sum.
inline Descriptor descriptor(const Plane& image, const DescribedKeypoint& place) {
  constexpr int cells = 4;
  constexpr int directions = 8;
  const double cell = 3 * place.sigma;
  const double rotation = place.radians / (2 * std::numbers::pi);
  const SampledGradients gradients =
      sampled_gradients(image, place, (cells + 1) * cell, place.radians);
  Descriptor result{std::vector<double>(cells * cells * directions), gradients.undecided};
  const double c = std::cos(place.radians);
  const double s = std::sin(place.radians);
  for (const SampledGradient& gradient : gradients.samples) {
    const double u = (c * gradient.x + s * gradient.y) / cell;
    const double v = (c * gradient.y - s * gradient.x) / cell;
    const double length = gradient.length * std::exp(-(u * u + v * v) / (2 * 2 * 2));
    const double turns = gradient.turns - rotation;
    const double direction = (turns - std::floor(turns)) * directions;
    for (int row = 0; row < cells; ++row) {
      for (int column = 0; column < cells; ++column) {
        for (int d = 0; d < directions; ++d) {
          const double around = std::abs(direction - d);
          const double share = std::max(0.0, 1 - std::abs(u + 1.5 - column)) *
                               std::max(0.0, 1 - std::abs(v + 1.5 - row)) *
                               std::max(0.0, 1 - std::min(around, directions - around));
          result.values[static_cast<std::size_t>((row * cells + column) * directions + d)] +=
              share * length;
        }
      }
    }
  }
  double square = 0;
  for (const double value : result.values) square += value * value;
  double sum = 0;
  for (double& value : result.values) {
    value = std::min(value, 0.2 * std::sqrt(square));
    sum += value;
  }
  for (double& value : result.values) value = sum > 0 ? std::sqrt(value / sum) : 0;
  return result;
}

}  // namespace reference
