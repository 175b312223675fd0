// How far located tiles, images or volumes, are from where they were drawn.
#pragma once

#include <warpalign/geometry.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace test {

inline std::array<double, 3> coordinates_of(const warpalign::Point& p) { return {p.x, p.y, 0}; }
inline std::array<double, 3> coordinates_of(const warpalign::Point3& p) { return {p.x, p.y, p.z}; }

/// The distances of positions from the truth, after removing the mean over the tiles with pairs.
template <class Mosaic, class P>
std::vector<double> position_errors(const Mosaic& mosaic, const std::vector<P>& truth) {
  std::vector<std::array<double, 3>> off;
  std::array<double, 3> sum{};
  double count = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    off.push_back(coordinates_of(mosaic.tiles[i].position));
    const std::array<double, 3> drawn = coordinates_of(truth[i]);
    for (std::size_t axis = 0; axis < 3; ++axis) off.back()[axis] -= drawn[axis];
    if (mosaic.tiles[i].pairs == 0) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += off.back()[axis];
    count += 1;
  }
  std::vector<double> errors;
  for (const auto& [x, y, z] : off) {
    errors.push_back(std::hypot(x - sum[0] / count, y - sum[1] / count, z - sum[2] / count));
  }
  return errors;
}

inline double rms_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace test
