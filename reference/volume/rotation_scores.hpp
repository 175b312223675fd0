// The oracle of the score of points in a volume under a rotation.
#pragma once

#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"
#include "reference/volume.hpp"

#include <array>
#include <vector>

namespace reference {

struct ScoredPoint {
  std::array<double, 3> at{};
  double value = 0;
};

/// The sum of each value times the volume's linear interpolation at the rotated point; the origin
/// is the middle voxel.
inline double rotation_score(const Volume& volume, const std::vector<ScoredPoint>& points,
                             const std::array<double, 9>& rotation) {
  const Spline spline = unfiltered(volume, 3, 1, Edge::mirror);
  const auto middle = static_cast<double>(volume.width - 1) / 2;
  double sum = 0;
  for (const ScoredPoint& point : points) {
    std::array<double, 3> rotated{middle, middle, middle};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) rotated[i] += rotation[3 * i + j] * point.at[j];
    }
    sum += point.value * evaluate(spline, rotated).value;
  }
  return sum;
}

}  // namespace reference
