// Which types have samples that are not finite, and the removal of these.
#pragma once

#include "io/array_file.hpp"

#include <optional>

namespace warpalign::program {

/// Whether the samples of the type are integers, which are always finite.
[[nodiscard]] bool is_integer(PixelType type);

/// Sets non-finite samples to 0. A single one would spread to all samples through the prefilter's
/// recursion.
void remove_nonfinite(Array& samples);

/// 1 where a sample is NaN or infinite, else 0, f32. Empty if all are finite.
[[nodiscard]] std::optional<Array> nonfinite_marks(const Array& samples);
/// Sets the samples (f32 or f64) to NaN where `shares` (f32) is above one half.
void set_missing(Array& samples, const Array& shares);

}  // namespace warpalign::program
