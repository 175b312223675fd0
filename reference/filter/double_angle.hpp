// The oracle of the double-angle representation of gradients.
#pragma once

#include "reference/plane.hpp"

#include <cmath>
#include <complex>

namespace reference {

struct DoubleAngleTerms {
  double epsilon = 0.05, rotation = 0, gain = 1;
  std::complex<double> mean;
};

/// With g = r exp(i a), the gradient as a complex number, r^2 / (r^2 + epsilon) exp(2 i a):
/// Granlund 1978. There is no gradient at the edges and next to masked pixels.
inline PlaneOf<std::complex<double>> double_angle(const Plane& image, const Plane& weight,
                                                  const DoubleAngleTerms& terms) {
  PlaneOf<std::complex<double>> result(image.width, image.height);
  const auto counts = [&](std::int64_t x, std::int64_t y) { return weight.at(x, y) >= 0.99; };
  for (std::int64_t y = 1; y + 1 < image.height; ++y) {
    for (std::int64_t x = 1; x + 1 < image.width; ++x) {
      if (!counts(x, y) || !counts(x - 1, y) || !counts(x + 1, y) || !counts(x, y - 1) ||
          !counts(x, y + 1)) {
        continue;
      }
      const std::complex<double> g((image.at(x + 1, y) - image.at(x - 1, y)) / 2,
                                   (image.at(x, y + 1) - image.at(x, y - 1)) / 2);
      const double squared = std::norm(g);
      const std::complex<double> unit =
          std::polar(squared / (squared + terms.epsilon), 2 * (std::arg(g) + terms.rotation));
      result.at(x, y) = terms.gain * (unit - terms.mean);
    }
  }
  return result;
}

}  // namespace reference
