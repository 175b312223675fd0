// How far apart two transforms place the corners of an image, in pixels.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace test {

inline std::array<double, 4> corner_distances(const warpalign::Homography& found,
                                              const warpalign::Homography& expected,
                                              const warpalign::Shape& shape) {
  const auto right = static_cast<double>(shape.width - 1);
  const auto bottom = static_cast<double>(shape.height - 1);
  const auto distance = [&](double x, double y) {
    const warpalign::Point a = found({x, y});
    const warpalign::Point b = expected({x, y});
    return std::hypot(a.x - b.x, a.y - b.y);
  };
  return {distance(0, 0), distance(0, bottom), distance(right, 0), distance(right, bottom)};
}

inline double max_corner_distance(const warpalign::Homography& found,
                                  const warpalign::Homography& expected,
                                  const warpalign::Shape& shape) {
  const auto distances = corner_distances(found, expected, shape);
  return *std::max_element(distances.begin(), distances.end());
}

inline double mean_corner_distance(const warpalign::Homography& found,
                                   const warpalign::Homography& expected,
                                   const warpalign::Shape& shape) {
  const auto [a, b, c, d] = corner_distances(found, expected, shape);
  return (a + b + c + d) / 4;
}

}  // namespace test
