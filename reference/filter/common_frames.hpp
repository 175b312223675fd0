// The oracle of the common area of two images and the moments of its texture.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

namespace reference {

/// An image of one channel, or of two as the real and imaginary parts of a complex number.
using Channels = PlaneOf<std::complex<double>>;

struct CommonFrames {
  Channels reference, moving;
  double pixels = 0, reference_energy = 0, moving_energy = 0, both_energies = 0;
};

/// The image minus its mean where `counts` is 1, and 0 elsewhere.
inline Channels minus_mean(const Channels& image, const Plane& counts) {
  std::complex<double> sum;
  double pixels = 0;
  for (std::int64_t y = 0; y < counts.height; ++y) {
    for (std::int64_t x = 0; x < counts.width; ++x) {
      if (counts.at(x, y) == 0) continue;
      sum += image.at(x, y);
      pixels += 1;
    }
  }
  Channels result(counts.width, counts.height);
  for (std::int64_t y = 0; y < counts.height; ++y) {
    for (std::int64_t x = 0; x < counts.width; ++x) {
      if (counts.at(x, y) != 0) result.at(x, y) = image.at(x, y) - sum / pixels;
    }
  }
  return result;
}

/// The sum of squares over those of the 17 x 17 pixels around (x, y) that exist.
inline double local_energy(const Channels& image, std::int64_t x, std::int64_t y) {
  constexpr std::int64_t reach = 8;
  double sum = 0;
  for (std::int64_t v = std::max<std::int64_t>(y - reach, 0);
       v <= std::min(y + reach, image.height - 1); ++v) {
    for (std::int64_t u = std::max<std::int64_t>(x - reach, 0);
         u <= std::min(x + reach, image.width - 1); ++u) {
      sum += std::norm(image.at(u, v));
    }
  }
  return sum;
}

/// The frames of the part of width x height pixels from (0, 0) on. The reference's channels are
/// rotated by `angle` radians after the subtraction of the mean.
inline CommonFrames common_frames(const Channels& reference, const Channels& moving,
                                  const Plane& reference_weight, const Plane& moving_weight,
                                  std::int64_t width, std::int64_t height, double angle) {
  CommonFrames result;
  Plane counts(width, height);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const bool both = reference_weight.at(x, y) > 0.5 && moving_weight.at(x, y) > 0.5;
      counts.at(x, y) = both ? 1 : 0;
      result.pixels += both ? 1 : 0;
    }
  }
  result.reference = minus_mean(reference, counts);
  result.moving = minus_mean(moving, counts);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const double r = local_energy(result.reference, x, y);
      const double m = local_energy(result.moving, x, y);
      result.reference_energy += r;
      result.moving_energy += m;
      result.both_energies += r * m;
    }
  }
  for (std::complex<double>& value : result.reference.values) value *= std::polar(1.0, angle);
  return result;
}

}  // namespace reference
