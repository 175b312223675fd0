// The oracle of the illumination model: a field of gains and offsets.
#pragma once

#include "reference/refinement/compared_pair.hpp"

#include <cstdint>

namespace reference {

struct IlluminationPrior {
  double gain = 1, reference = 0, moving = 0, strength = 0;
};

/// (gain, offset) of each cell: least squares over the common pixels, with a Gaussian weight of the
/// distance of their cell, in cells, out to 3 sigma (rounded up).
Spectrum illumination(const ComparedPair& pair, std::int64_t cell, double sigma,
                      const IlluminationPrior& prior);

}  // namespace reference
