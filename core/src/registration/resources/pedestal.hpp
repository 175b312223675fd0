// Images whose contrast is tiny beside their mean.
#pragma once

#include <warpalign/pixel.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

/// The value to subtract from an image of 32-bit integers or doubles before it becomes f32, because
/// single precision would lose its contrast; nothing for other images. Judges by a sample of the
/// pixels.
[[nodiscard]] std::optional<double> pedestal_of(const HostImage& image);

/// The dense pixels of such an image minus the pedestal, subtracted in double precision.
[[nodiscard]] std::vector<float> without_pedestal(const HostImage& image, double pedestal);

}  // namespace warpalign::detail
