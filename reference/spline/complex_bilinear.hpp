// The oracle of bilinear interpolation of complex numbers.
#pragma once

#include "reference/volume.hpp"

#include <cmath>
#include <complex>

namespace reference {

/// Bilinear interpolation of complex data (interview text, equations 1 to 4); neighbours outside
/// are 0, points that are not finite give 0.
inline std::complex<double> bilinear_zero_outside(const ComplexVolume& image, double x, double y) {
  const auto w = static_cast<double>(image.width);
  const auto h = static_cast<double>(image.height);
  if (!(x > -1 && x < w && y > -1 && y < h)) return 0;
  const double i = std::floor(x);
  const double j = std::floor(y);
  const double a = x - i;
  const double b = y - j;
  const auto t = [&](double u, double v) -> std::complex<double> {
    const bool inside = u >= 0 && u < w && v >= 0 && v < h;
    if (!inside) return 0;
    return image.at(static_cast<std::int64_t>(u), static_cast<std::int64_t>(v));
  };
  const auto lower = (1 - a) * t(i, j) + a * t(i + 1, j);          // (1)
  const auto upper = (1 - a) * t(i, j + 1) + a * t(i + 1, j + 1);  // (2)
  return (1 - b) * lower + b * upper;                              // (3)
}

}  // namespace reference
