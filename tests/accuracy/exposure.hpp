// What happens to an image between the scene and its file: illumination, noise, dead pixels,
// frames.
#pragma once

#include "accuracy/random.hpp"
#include "reference/plane.hpp"

#include <cstdint>
#include <vector>

namespace accuracy {

/// The part of an image that shows nothing: everything outside of a smaller, rotated rectangle.
struct Frame {
  bool present = false;
  double turn_deg = 0;
  double inset = 0;  ///< of the rectangle, relative to the image's sides
  double level = 0;
};

/// Applied in this order: gamma, uneven illumination, contrast, noise, impulses, frame, rounding to
/// 8 bit.
struct Exposure {
  double gamma = 1;
  double unevenness =
      0;  ///< half the natural logarithm of the brightest over the darkest illumination
  double contrast = 1;  ///< about the grey level 128
  double noise = 1;     ///< standard deviation of Gaussian noise, in grey levels
  double impulses = 0;  ///< share of the pixels that are 0 or 255
  Frame frame;
};

[[nodiscard]] std::vector<std::uint8_t> expose(const reference::Plane& picture,
                                               const Exposure& exposure, Random& random);

}  // namespace accuracy
