// The oracle of the sums over two spectra.
#pragma once

#include "reference/volume.hpp"

#include <complex>

namespace reference {

struct PowerSums {
  double a = 0, b = 0, product = 0;
};

/// Sums over the whole spectra, from the half spectra of volumes `width` wide.
inline PowerSums power_sums(const ComplexVolume& a, const ComplexVolume& b, std::int64_t width) {
  PowerSums sums;
  const double n = static_cast<double>(width * a.height * a.depth);
  for_each_voxel({width, a.height, a.depth}, [&](std::int64_t u, std::int64_t v, std::int64_t w) {
    if (u == 0 && v == 0 && w == 0) return;
    const bool mirrored = u > width / 2;  // F(-k) is the conjugate of F(k)
    const auto at = [&](const ComplexVolume& half) {
      return mirrored ? half.at(width - u, (a.height - v) % a.height, (a.depth - w) % a.depth)
                      : half.at(u, v, w);
    };
    const double power_a = std::norm(at(a)) / n;
    const double power_b = std::norm(at(b)) / n;
    sums.a += power_a;
    sums.b += power_b;
    sums.product += power_a * power_b;
  });
  return sums;
}

}  // namespace reference
