// Which types have samples that are not finite, and the removal of these.
#pragma once

#include "io/array_file.hpp"

namespace warpalign::program {

/// Whether the samples of the type are integers, which are always finite.
[[nodiscard]] bool is_integer(PixelType type);

/// Sets non-finite samples to 0. A single one would spread to all samples through the prefilter's
/// recursion.
void remove_nonfinite(Array& samples);

}  // namespace warpalign::program
