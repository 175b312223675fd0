// The evaluation within a resampling.
#pragma once

#include <warpalign/stages/resample.hpp>

namespace warpalign::detail {

/// The evaluation between the type conversions of a resampling, if there are any.
[[nodiscard]] InterpolateSpec evaluation_of(const ResampleSpec& spec);
/// The margin of its coefficients.
[[nodiscard]] int margin_of(const InterpolateSpec& spec);

}  // namespace warpalign::detail
