// The oracle of the normalised cross-power spectrum: equation 4 of the registration paper.
#pragma once

#include "reference/plane.hpp"
#include "reference/volume.hpp"

#include <cmath>
#include <complex>

namespace reference {

/// The frequency of index k of n, in units of the Nyquist frequency.
inline double nyquist_units(std::int64_t k, std::int64_t n) {
  const std::int64_t signed_k = k <= n / 2 ? k : k - n;
  return 2.0 * static_cast<double>(signed_k) / static_cast<double>(n);
}

/// Equation 4, with the Gaussian weight (sigma 0: none); `width` is the real image's width.
inline Spectrum cross_power(const Spectrum& a, const Spectrum& b, std::int64_t width, double sigma,
                            bool conjugate_second) {
  Spectrum result(a.width, a.height);
  for (std::int64_t v = 0; v < a.height; ++v) {
    for (std::int64_t u = 0; u < a.width; ++u) {
      const std::complex<double> second = conjugate_second ? std::conj(b.at(u, v)) : b.at(u, v);
      const std::complex<double> product = a.at(u, v) * std::conj(second);
      const double size = std::abs(product);
      if (size == 0) continue;
      double weight = 1;
      if (sigma > 0) {
        const double x = nyquist_units(u, width);
        const double y = nyquist_units(v, a.height);
        weight = std::exp(-(x * x + y * y) / (2 * sigma * sigma));
      }
      result.at(u, v) = weight * product / size;
    }
  }
  return result;
}

/// Equation 4 in three dimensions, with the Gaussian weight (sigma 0: none); `width` is the real
/// volume's width.
inline ComplexVolume cross_power(const ComplexVolume& a, const ComplexVolume& b, std::int64_t width,
                                 double sigma) {
  ComplexVolume result(a.width, a.height, a.depth);
  for_each_voxel(a.extents(), [&](std::int64_t u, std::int64_t v, std::int64_t w) {
    const std::complex<double> product = a.at(u, v, w) * std::conj(b.at(u, v, w));
    if (product == std::complex<double>{}) return;
    const double rho2 = std::pow(nyquist_units(u, width), 2) +
                        std::pow(nyquist_units(v, a.height), 2) +
                        std::pow(nyquist_units(w, a.depth), 2);
    const double weight = sigma > 0 ? std::exp(-rho2 / (2 * sigma * sigma)) : 1;
    result.at(u, v, w) = weight * product / std::abs(product);
  });
  return result;
}

}  // namespace reference
