// The oracle of the sums of a Gauss-Newton step for a pair of images.
#pragma once

#include "reference/refinement/compared_pair.hpp"

#include <array>
#include <cstdint>

namespace reference {

/// The illumination model: moving = gain reference + offset, with one gain and offset, or with a
/// field of them at the centres of cells, linear in between and constant beyond the outermost.
struct Illumination {
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
  double ambiguous = 0;
};

/// The sums of one Gauss-Newton step, the Jacobian by central differences of the residual in every
/// parameter.
SimilaritySums similarity_sums(const ComparedPair& pair, const Illumination& illumination,
                               double scale);

}  // namespace reference
