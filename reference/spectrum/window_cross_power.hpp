// The oracle of the symmetric phase-only filter (Wernet 2005, equation 6): the cross-power spectrum
// divided by the square root of its magnitude.
#pragma once

#include "reference/spectrum/cross_power.hpp"

#include <cmath>

namespace reference {

/// With the Gaussian weight of cross_power (sigma 0: none); `width` is the real window's width.
inline Spectrum window_cross_power(const Spectrum& a, const Spectrum& b, std::int64_t width,
                                   double sigma) {
  Spectrum result = cross_power(a, b, width, sigma, false);
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] *= std::sqrt(std::abs(a.values[i] * b.values[i]));
  }
  return result;
}

/// The weighted product of a and conj(b), not whitened.
inline Spectrum weighted_product(const Spectrum& a, const Spectrum& b, std::int64_t width,
                                 double sigma) {
  Spectrum result = cross_power(a, b, width, sigma, false);
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] *= std::abs(a.values[i] * b.values[i]);
  }
  return result;
}

}  // namespace reference
