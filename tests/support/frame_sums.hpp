// The states and sums of frame_sums in the oracle's form, for the stage's test and its property.
#pragma once

#include "reference/refinement/frame_sums.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace test {

/// The sums in the oracle's order.
inline std::vector<double> in_oracle_order(const warpalign::FrameSums& s) {
  std::vector<double> all{s.weight, s.r, s.m, s.rr, s.mm, s.rm};
  all.insert(all.end(), s.zj.begin(), s.zj.end());
  for (const auto* four : {&s.zr, &s.z, &s.zm, &s.jr, &s.j}) {
    all.insert(all.end(), four->begin(), four->end());
  }
  all.insert(all.end(), {s.slopes, s.pixels, s.absolute});
  return all;
}

inline reference::RotatedCell cell_of(const warpalign::FrameState& s) {
  reference::RotatedCell c;
  c.first_column = s.first_column;
  c.end_column = s.end_column;
  c.first_row = s.first_row;
  c.end_row = s.end_row;
  c.x = s.reference_x + static_cast<double>(s.fraction_x);
  c.y = s.reference_y + static_cast<double>(s.fraction_y);
  c.a = static_cast<double>(s.a);
  c.b = static_cast<double>(s.b);
  c.d = static_cast<double>(s.d);
  c.e = static_cast<double>(s.e);
  c.centre_x = c.x - static_cast<double>(s.from_centre_x);
  c.centre_y = c.y - static_cast<double>(s.from_centre_y);
  c.frame_mean = static_cast<double>(s.frame_mean);
  c.reference_mean = static_cast<double>(s.reference_mean);
  c.gain = static_cast<double>(s.gain);
  c.offset = static_cast<double>(s.offset);
  c.scale = s.inverse_scale > 0 ? 1 / static_cast<double>(s.inverse_scale) : 0;
  return c;
}

/// How much larger the terms of sum number `sum` may be than those of other sums: the distance
/// from the centre is a factor of some sums, and its square of others.
inline double size_of_terms(std::size_t sum) {
  constexpr double farthest = 60;
  if (sum >= 6 && sum < 22) {
    const std::size_t turned = ((sum - 6) / 4 >= 2 ? 1U : 0U) + ((sum - 6) % 4 >= 2 ? 1U : 0U);
    return std::pow(farthest, static_cast<double>(turned));
  }
  return sum >= 22 && sum < 42 && (sum - 22) % 4 >= 2 ? farthest : 1;
}

}  // namespace test
