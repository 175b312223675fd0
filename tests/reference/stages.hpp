// The oracle: every stage in double precision, the plain way, from the registration paper.
// Nothing here includes the library's formulas, so that a wrong one cannot agree with itself.
#pragma once

#include "reference/plane.hpp"

#include <array>
#include <cstdint>

namespace reference {

/// Section 4: nine reads a pixel, edges repeated, sqrt(gx^2 + gy^2).
Plane sobel(const Plane& image);

struct Statistics {
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
  std::uint32_t nonfinite = 0;
};
Statistics statistics(const Plane& image);

/// Hann window (or none), mean removed, in the middle of a canvas of zeros.
Plane apodize(const Plane& image, double mean, std::int64_t width, std::int64_t height, bool hann);

/// Half spectrum of a real image, unnormalised, by FFTW.
Spectrum forward(const Plane& image);
/// Real image of width `width` from a half spectrum, unnormalised, by FFTW.
Plane inverse(const Spectrum& half, std::int64_t width);

/// |F|^exponent with the zero frequency in row height / 2.
Plane magnitude(const Spectrum& half, double exponent);

/// Equations 11 to 13 on the half plane u >= 0; `width` is the real image's width.
Plane log_polar(const Plane& magnitude, std::int64_t width, std::int64_t radii,
                std::int64_t angles);
/// The distance, in samples, of a grid point from the edge of the square of frequencies, beyond
/// which log_polar gives 0.
double log_polar_edge_distance(std::int64_t width, std::int64_t height, std::int64_t radii,
                               std::int64_t angles, std::int64_t i, std::int64_t j);

/// Equation 4, with the Gaussian weight (sigma 0: none); `width` is the real image's width.
Spectrum cross_power(const Spectrum& a, const Spectrum& b, std::int64_t width, double sigma,
                     bool conjugate_second);

struct Peak {
  double value = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
};
Peak peak(const Plane& image);

/// Bilinear, zero outside; `m` is (a, b, c, d, e, f), output to input.
Plane warp(const Plane& image, const std::array<double, 6>& m, std::int64_t width,
           std::int64_t height);

/// value / m - 1 with the mean m of its column's values that are not 0; 0 stays 0.
Plane flattened_profile(const Plane& log_polar);

/// Whether the pixel stands at an end of [lowest, highest] with at most `company` of its eight
/// neighbours at the same end.
bool is_impulse(const Plane& image, std::int64_t x, std::int64_t y, double lowest, double highest,
                int company);
/// Impulses filled by the neighbours within the ends, of 3 x 3 or else 5 x 5 pixels, weighted by
/// the inverse of the squared distance.
Plane despeckled(const Plane& image, double lowest, double highest);

}  // namespace reference
