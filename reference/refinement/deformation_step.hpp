// The oracle of the bending energy of control points.
#pragma once

#include "reference/volume.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace reference {

/// The sum of squared second differences along each axis, and twice those of mixed differences of
/// each pair of axes, wherever all control points exist (Rueckert et al. 1999, equation 4, in units
/// of the grid).
inline double bending_energy(const Volume& c) {
  const auto n = c.extents();
  double energy = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    for_each_voxel(n, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      std::array<std::int64_t, 3> k{x, y, z};
      if (k[a] < 1 || k[a] > n[a] - 2) return;
      const double here = c.at(x, y, z);
      ++k[a];
      const double after = c.at(k[0], k[1], k[2]);
      k[a] -= 2;
      const double before = c.at(k[0], k[1], k[2]);
      energy += (after - 2 * here + before) * (after - 2 * here + before);
    });
    for (std::size_t b = a + 1; b < 3; ++b) {
      for_each_voxel(n, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        std::array<std::int64_t, 3> k{x, y, z};
        if (k[a] > n[a] - 2 || k[b] > n[b] - 2) return;
        const auto corner = [&](bool along_a, bool along_b) {
          auto at = k;
          if (along_a) ++at[a];
          if (along_b) ++at[b];
          return c.at(at[0], at[1], at[2]);
        };
        const double mixed =
            corner(true, true) - corner(true, false) - corner(false, true) + corner(false, false);
        energy += 2 * mixed * mixed;
      });
    }
  }
  return energy;
}

}  // namespace reference
