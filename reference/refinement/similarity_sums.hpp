// The oracle of the sums of a Gauss-Newton step for a pair of images.
#pragma once

#include "reference/refinement/compared_pair.hpp"

#include <cstdint>
#include <vector>

namespace reference {

/// The illumination model: moving = gain reference + offset, with one gain and offset, or with a
/// field of them at the centres of cells, interpolated linearly and constant beyond the outermost.
struct Illumination {
  double gain = 1, offset = 0;
  const Spectrum* field = nullptr;
  std::int64_t cell = 0;
};

/// The sums for four parameters (shift, logarithm of the scale, rotation) or eight (a homography).
struct SimilaritySums {
  std::vector<double> hessian, gradient;
  double weight = 0, pixels = 0, absolute = 0;
  double reference = 0, moving = 0, reference_square = 0, moving_square = 0, product = 0;
  double squares = 0;  ///< sum of w e^2
  /// Pixels that a rounding error of 1e-5 would move across an edge or to another nearest pixel.
  double ambiguous = 0;
};

/// The sums of one Gauss-Newton step, with the Jacobian by central differences of the residual.
SimilaritySums similarity_sums(const ComparedPair& pair, const Illumination& illumination,
                               double scale);

/// The sums for the parameters d of a homography: a position q = centre + (X, Y) becomes centre +
/// (X + d0 + d2 X/unit + d3 Y/unit, Y + d1 + d4 X/unit + d5 Y/unit) / v, with v = 1 + (d6 X + d7
/// Y)/unit^2.
SimilaritySums homography_sums(const ComparedPair& pair, const Illumination& illumination,
                               double scale, Position centre, double unit);

}  // namespace reference
