// Removal of NaN and infinite samples.
#pragma once

#include "io/array_file.hpp"

namespace warpalign::program {

/// Sets non-finite samples to 0. A single one would spread to all samples through the prefilter's
/// recursion.
void remove_nonfinite(Array& samples);

}  // namespace warpalign::program
