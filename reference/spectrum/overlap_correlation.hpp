// The oracle of the correlation over the overlap.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

/// sum over x of a(x) b(x - d), or of a(x) b(d - x) if `mirrored`, both periodic.
inline Plane correlation(const Plane& a, const Plane& b, bool mirrored) {
  const auto wrapped = [](std::int64_t i, std::int64_t n) { return (i % n + n) % n; };
  Plane result(a.width, a.height);
  for (std::int64_t dy = 0; dy < a.height; ++dy) {
    for (std::int64_t dx = 0; dx < a.width; ++dx) {
      double sum = 0;
      for (std::int64_t y = 0; y < a.height; ++y) {
        for (std::int64_t x = 0; x < a.width; ++x) {
          const std::int64_t u = mirrored ? dx - x : x - dx;
          const std::int64_t v = mirrored ? dy - y : y - dy;
          sum += a.at(x, y) * b.at(wrapped(u, a.width), wrapped(v, a.height));
        }
      }
      result.at(dx, dy) = sum;
    }
  }
  return result;
}

struct ShiftLimits {
  double min_overlap = 1, reach = 0, centre_x = 0, centre_y = 0;
  double first_x = 0, first_y = 0, second_x = 0, second_y = 0;  // two bands, in [-1, 1]
};

/// C / sqrt(N) of unnormalised inverse transforms if the shift is allowed, else 0.
inline Plane overlap_score(const Plane& correlation, const Plane& overlap,
                           const ShiftLimits& limits) {
  const auto plane = static_cast<double>(correlation.width * correlation.height);
  const auto distance = [](std::int64_t i, double centre, std::int64_t n) {
    double least = INFINITY;
    for (int turn = -4; turn <= 4; ++turn) {
      const double candidate = static_cast<double>(i + turn * n) - centre;
      if (std::abs(candidate) < std::abs(least)) least = candidate;
    }
    return least;
  };
  Plane result(correlation.width, correlation.height);
  for (std::int64_t y = 0; y < result.height; ++y) {
    for (std::int64_t x = 0; x < result.width; ++x) {
      const double dx = distance(x, limits.centre_x, result.width);
      const double dy = distance(y, limits.centre_y, result.height);
      const double far = std::hypot(dx, dy);
      const double beyond = std::max(std::abs(limits.first_x * dx + limits.first_y * dy),
                                     std::abs(limits.second_x * dx + limits.second_y * dy));
      const double pixels = overlap.at(x, y) / plane;
      if (pixels < limits.min_overlap || (limits.reach > 0 && far > limits.reach)) continue;
      if (beyond > 1) continue;
      result.at(x, y) = correlation.at(x, y) / plane / std::sqrt(pixels);
    }
  }
  return result;
}

/// Half the width and the height of a rectangle, and the half edges of a parallelogram.
struct Outline {
  double half_width = 0, half_height = 0;
  double along_x = 0, along_y = 0, across_x = 0, across_y = 0;
};

struct Corner {
  double x, y;
};

/// The part of a polygon with normal . corner <= limit (Sutherland & Hodgman 1974).
inline std::vector<Corner> clipped(const std::vector<Corner>& polygon, Corner normal,
                                   double limit) {
  std::vector<Corner> inside;
  const auto beyond = [&](const Corner& c) { return normal.x * c.x + normal.y * c.y - limit; };
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner& from = polygon[i];
    const Corner& to = polygon[(i + 1) % polygon.size()];
    const double start = beyond(from);
    const double end = beyond(to);
    if (start <= 0) inside.push_back(from);
    if ((start <= 0) == (end <= 0)) continue;
    const double t = start / (start - end);
    inside.push_back({from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)});
  }
  return inside;
}

/// The area of a polygon, by the shoelace formula.
inline double area_of(const std::vector<Corner>& polygon) {
  double twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner& from = polygon[i];
    const Corner& to = polygon[(i + 1) % polygon.size()];
    twice += from.x * to.y - from.y * to.x;
  }
  return std::abs(twice) / 2;
}

/// The area of the intersection of the rectangle and the parallelogram, (dx, dy) away.
inline double common_area(const Outline& outline, double dx, double dy) {
  std::vector<Corner> polygon;
  constexpr std::array<std::array<double, 2>, 4> signs{{{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}};
  for (const auto& [s, t] : signs) {
    polygon.push_back({dx + s * outline.along_x + t * outline.across_x,
                       dy + s * outline.along_y + t * outline.across_y});
  }
  for (const double sign : {-1.0, 1.0}) {
    polygon = clipped(polygon, {sign, 0}, outline.half_width);
    polygon = clipped(polygon, {0, sign}, outline.half_height);
  }
  return area_of(polygon);
}

/// The overlap of outlines at every shift of a surface, multiplied by the number of its pixels. The
/// distance of the centres is the shortest periodic one between the shift and the centre of
/// `limits`.
inline Plane outline_overlap(std::int64_t width, std::int64_t height, const Outline& outline,
                             const ShiftLimits& limits) {
  const auto distance = [](std::int64_t i, double centre, std::int64_t n) {
    return std::remainder(static_cast<double>(i) - centre, static_cast<double>(n));
  };
  Plane result(width, height);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const double area = common_area(outline, distance(x, limits.centre_x, width),
                                      distance(y, limits.centre_y, height));
      result.at(x, y) = area * static_cast<double>(width * height);
    }
  }
  return result;
}

}  // namespace reference
