// The oracle of the window and the padding of volumes.
#pragma once

#include "reference/volume.hpp"

#include <cmath>
#include <numbers>

namespace reference {

/// Tukey's window at i of n; each ramp is the fraction `taper` of n.
inline double tukey_window(std::int64_t i, std::int64_t n, double taper) {
  const double ramp = taper * static_cast<double>(n);
  const double before = static_cast<double>(i) + 0.5;
  const double after = static_cast<double>(n - 1 - i) + 0.5;
  double weight = 1;
  if (before < ramp) weight *= (1 - std::cos(std::numbers::pi * before / ramp)) / 2;
  if (after < ramp) weight *= (1 - std::cos(std::numbers::pi * after / ramp)) / 2;
  return weight;
}

/// (value - offset) scale under Tukey's window, in the corner of a padded frame of zeros. NaN
/// stays, unless the volume is marked: then it gives 0.
inline Volume placed(const Volume& volume, const std::array<std::int64_t, 3>& padded, double offset,
                     double scale, double taper, bool marked = false) {
  Volume result(padded[0], padded[1], padded[2]);
  for_each_voxel(volume.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    result.at(x, y, z) =
        (volume.at(x, y, z) - offset) * scale * tukey_window(x, volume.width, taper) *
        tukey_window(y, volume.height, taper) * tukey_window(z, volume.depth, taper);
    if (marked && std::isnan(volume.at(x, y, z))) result.at(x, y, z) = 0;
  });
  return result;
}

}  // namespace reference
