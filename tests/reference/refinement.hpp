// The oracle of the stages that search and refine a registration, in double precision, written from
// what their headers promise.
#pragma once

#include "reference/plane.hpp"

#include <array>
#include <cstdint>

namespace reference {

/// Where samples are taken: pixel (i, j) of the output lies at origin + spacing (i, j).
struct SampleGrid {
  std::int64_t width = 0, height = 0;
  double origin_x = 0, origin_y = 0;
  double spacing = 1;
};

struct Smoothed {
  Plane value;
  Plane weight;  ///< the part of the Gaussian's weight within the image on pixels that count
};

/// Means weighted by a Gaussian cut off at 4 sigma along each axis, of the pixels that exist and,
/// where there is a mask, that it does not leave out; in two dimensions at once.
Smoothed smooth(const Plane& image, const Plane* mask, const SampleGrid& grid, double sigma);

/// (v - m) / sqrt(d^2 + floor^2) with the same Gaussian; 0 where `weight` is below 1/2.
Plane local_normalization(const Plane& image, const Plane* weight, double sigma, double floor);

/// sum over x of a(x) b(x - d), or of a(x) b(d - x) where `mirrored`, both going round.
Plane correlation(const Plane& a, const Plane& b, bool mirrored);

struct ShiftLimits {
  double min_overlap = 1, reach = 0, centre_x = 0, centre_y = 0;
};

/// C / sqrt(N) of unnormalised inverse transforms where a shift is allowed, else 0.
Plane overlap_score(const Plane& correlation, const Plane& overlap, const ShiftLimits& limits);

/// A reference compared with the spline of a moving image at q = m p, m = (a, b, c, d, e, f).
struct ComparedPair {
  const Plane& reference;
  const Plane& coefficients;
  std::array<double, 6> m{};
  std::int64_t reference_margin = 0;
  std::int64_t moving_margin = 1;
  const Plane* reference_weight = nullptr;
  const Plane* moving_weight = nullptr;
};

/// moving = gain reference + offset, or by a field of (gain, offset) at the centres of cells,
/// linear in between and constant beyond the outermost.
struct Light {
  double gain = 1, offset = 0;
  const Spectrum* field = nullptr;
  std::int64_t cell = 0;
};

struct SimilaritySums {
  std::array<double, 16> hessian{};
  std::array<double, 4> gradient{};
  double weight = 0, pixels = 0, absolute = 0;
  double reference = 0, moving = 0, reference_square = 0, moving_square = 0, product = 0;
  double squares = 0;  ///< sum of w e^2
  /// Pixels that a rounding of 1e-5 would move across an edge or to another nearest pixel.
  double doubtful = 0;
};

/// The sums of one Gauss-Newton step, the Jacobian by central differences of the residual in every
/// parameter.
SimilaritySums similarity_sums(const ComparedPair& pair, const Light& light, double scale);

struct IlluminationPrior {
  double gain = 1, reference = 0, moving = 0, strength = 0;
};

/// (gain, offset) of each cell: least squares over the pixels in common, with the weight of a
/// Gaussian at the distance of their cell, in cells, out to 3 sigma (rounded up).
Spectrum illumination(const ComparedPair& pair, std::int64_t cell, double sigma,
                     const IlluminationPrior& prior);

}  // namespace reference
