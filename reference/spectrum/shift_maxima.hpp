// The oracle of the maxima of a correlation surface's scores.
#pragma once

#include "reference/plane.hpp"

#include <cmath>
#include <cstdint>

namespace reference {

/// Shifts are counted from the origin, periodically.
struct ShiftRegion {
  std::int64_t origin_x = 0, origin_y = 0, reach_x = 0, reach_y = 0, main_reach = 0;
  double ring = 0;
};

struct ShiftMaxima {
  double main = 0, other = 0, ring = 0;
};

/// `main`: the largest score about the origin. `other`: the largest that is no smaller than its
/// eight neighbours, and is no neighbour of the main one. `ring`: the largest whose distance from
/// the main one is that of the ring, within 3. Each is 0 if no such score is positive.
inline ShiftMaxima shift_maxima(const Plane& scores, const ShiftRegion& region) {
  const auto wrapped = [](std::int64_t i, std::int64_t n) { return (i % n + n) % n; };
  const auto score = [&](std::int64_t x, std::int64_t y) {
    return scores.at(wrapped(region.origin_x + x, scores.width),
                     wrapped(region.origin_y + y, scores.height));
  };
  ShiftMaxima maxima;
  std::int64_t main_x = -region.main_reach, main_y = -region.main_reach;
  for (std::int64_t y = -region.main_reach; y <= region.main_reach; ++y) {
    for (std::int64_t x = -region.main_reach; x <= region.main_reach; ++x) {
      if (score(x, y) <= maxima.main) continue;
      maxima.main = score(x, y);
      main_x = x;
      main_y = y;
    }
  }
  for (std::int64_t y = -region.reach_y; y <= region.reach_y; ++y) {
    for (std::int64_t x = -region.reach_x; x <= region.reach_x; ++x) {
      const double here = score(x, y);
      const double distance =
          std::hypot(static_cast<double>(x - main_x), static_cast<double>(y - main_y));
      if (std::abs(distance - region.ring) <= 3 && here > maxima.ring) maxima.ring = here;
      bool is_other = distance >= 1.5 && here > maxima.other;
      for (std::int64_t n = 0; n < 9; ++n) {
        if (score(x + n % 3 - 1, y + n / 3 - 1) > here) is_other = false;
      }
      if (is_other) maxima.other = here;
    }
  }
  return maxima;
}

}  // namespace reference
