// What happens to a picture between the scene and its file: light, noise, dead pixels, frames.
#pragma once

#include "accuracy/random.hpp"
#include "reference/plane.hpp"

#include <cstdint>
#include <vector>

namespace accuracy {

/// Part of a picture that shows nothing: what lies outside of a turned, smaller rectangle.
struct Frame {
  bool present = false;
  double turn_deg = 0;
  double inset = 0;  ///< of the rectangle, as a part of the picture's sides
  double level = 0;
};

/// In this order: gamma, uneven light, contrast, noise, impulses, frame, rounding to 8 bit.
struct Exposure {
  double gamma = 1;
  double unevenness = 0;  ///< natural logarithm of the brightest over the darkest light, halved
  double contrast = 1;    ///< about the grey level 128
  double noise = 1;       ///< standard deviation of Gaussian noise, in grey levels
  double impulses = 0;    ///< part of the pixels that are 0 or 255
  Frame frame;
};

[[nodiscard]] std::vector<std::uint8_t> expose(const reference::Plane& picture,
                                               const Exposure& exposure, Random& random);

}  // namespace accuracy
