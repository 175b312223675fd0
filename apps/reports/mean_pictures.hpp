// The mean of a stack before and after alignment, as pictures with their sharpness.
#pragma once

#include "io/image_file.hpp"

#include <cstdint>
#include <span>

namespace warpalign::program {

struct MeanPictures {
  LoadedImage before;  ///< 8 bits, no side above 1024, same brightness scale as `after`
  LoadedImage after;
  double sharpness_before = 0;  ///< root mean square gradient, in gray levels a pixel
  double sharpness_after = 0;
};

/// `before`, `after`: f32 in gray levels. `counts`: the number of frames that contribute to each
/// pixel of `after`. Sharpness is measured at the same pixels of both, those to which at least half
/// of the frames contribute; it is 0 if there are none.
[[nodiscard]] MeanPictures mean_pictures(const LoadedImage& before, const LoadedImage& after,
                                         std::span<const std::uint32_t> counts);

/// An image as a gray 8-bit picture with no side above 1024 and with stretched contrast.
[[nodiscard]] LoadedImage gray_picture(const LoadedImage& image);

}  // namespace warpalign::program
