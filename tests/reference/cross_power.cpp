// The oracle's normalised cross-power spectrum: equation 4 of the registration paper.
#include "reference/stages.hpp"

#include <cmath>

namespace reference {

namespace {

double nyquist_units(std::int64_t k, std::int64_t n) {
  const std::int64_t signed_k = k <= n / 2 ? k : k - n;
  return 2.0 * static_cast<double>(signed_k) / static_cast<double>(n);
}

}  // namespace

Spectrum cross_power(const Spectrum& a, const Spectrum& b, std::int64_t width, double sigma,
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

}  // namespace reference
