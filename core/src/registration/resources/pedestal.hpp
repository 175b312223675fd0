// Images whose contrast is tiny beside their mean, or whose values f32 cannot hold.
#pragma once

#include <warpalign/pixel.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

/// How to map values before they become f32: (value - pedestal) times a power of 2.
struct Rescaling {
  double pedestal = 0;
  int exponent = 0;
};

/// What an image of 32-bit integers or doubles needs because single precision would lose its
/// contrast, or doubles whose magnitudes it cannot hold; nothing for other images. Judges by a
/// sample of the pixels.
[[nodiscard]] std::optional<Rescaling> rescaling_of(const HostImage& image);

/// The dense pixels of such an image, mapped in double precision.
[[nodiscard]] std::vector<float> rescaled(const HostImage& image, const Rescaling& rescaling);

}  // namespace warpalign::detail
