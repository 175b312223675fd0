// The oracle of the illumination model: a field of gains and offsets.
#pragma once

#include "reference/refinement/compared_pair.hpp"

#include <cstdint>

namespace reference {

struct IlluminationPrior {
  double gain = 1, reference = 0, moving = 0, strength = 0;
};

/// (gain, offset) of each cell: least squares over the pixels in common, with the weight of a
/// Gaussian at the distance of their cell, in cells, out to 3 sigma (rounded up).
Spectrum illumination(const ComparedPair& pair, std::int64_t cell, double sigma,
                     const IlluminationPrior& prior);

}  // namespace reference
