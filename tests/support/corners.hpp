// The distance between two transforms at the corners of an image, in pixels.
#pragma once

#include "support/compare.hpp"

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

/// The homography that moves the corners of `shape` by these vectors, in the order top left, top
/// right, bottom right, bottom left. (For the unit square see Heckbert 1989.)
inline warpalign::Homography moving_corners(const warpalign::Shape& shape,
                                            const std::array<warpalign::Point, 4>& distances) {
  const auto right = static_cast<double>(shape.width - 1);
  const auto bottom = static_cast<double>(shape.height - 1);
  const std::array<warpalign::Point, 4> corners{{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
  std::array<double, 4> x{};
  std::array<double, 4> y{};
  for (std::size_t i = 0; i < 4; ++i) {
    x[i] = corners[i].x + distances[i].x;
    y[i] = corners[i].y + distances[i].y;
  }
  const double dx1 = x[1] - x[2], dx2 = x[3] - x[2], sx = x[0] - x[1] + x[2] - x[3];
  const double dy1 = y[1] - y[2], dy2 = y[3] - y[2], sy = y[0] - y[1] + y[2] - y[3];
  const double determinant = dx1 * dy2 - dx2 * dy1;
  const double g = (sx * dy2 - dx2 * sy) / determinant;
  const double h = (dx1 * sy - sx * dy1) / determinant;
  const warpalign::Homography of_square({x[1] - x[0] + g * x[1], x[3] - x[0] + h * x[3], x[0],
                                         y[1] - y[0] + g * y[1], y[3] - y[0] + h * y[3], y[0], g, h,
                                         1});
  return of_square * warpalign::Affine{1 / right, 0, 0, 0, 1 / bottom, 0};
}

inline double max_corner_distance(const warpalign::Homography& found,
                                  const warpalign::Homography& expected,
                                  const warpalign::Shape& shape) {
  WorstError worst;
  for (const double distance : corner_distances(found, expected, shape)) worst.add(distance);
  return worst.value();
}

inline double mean_corner_distance(const warpalign::Homography& found,
                                   const warpalign::Homography& expected,
                                   const warpalign::Shape& shape) {
  const auto [a, b, c, d] = corner_distances(found, expected, shape);
  return (a + b + c + d) / 4;
}

}  // namespace test
