// The mean of a stack before and after its drift was taken out, as pictures, with their sharpness.
#pragma once

#include "io/image_file.hpp"

#include <cstdint>
#include <span>

namespace warpalign::program {

struct MeanPictures {
  LoadedImage before;  ///< 8 bits, no side above 1024, both in one scale of brightness
  LoadedImage after;
  double sharpness_before = 0;  ///< the root mean square gradient, in gray levels a pixel
  double sharpness_after = 0;
};

/// `before`, `after`: f32 in gray levels. `counts`: how many frames `after` is the mean of at each
/// pixel. Sharpness is measured where at least half of the frames count, at the same pixels of
/// both; it is 0 where there are none.
[[nodiscard]] MeanPictures mean_pictures(const LoadedImage& before, const LoadedImage& after,
                                         std::span<const std::uint32_t> counts);

/// An image's gray levels as a picture of 8 bits, no side above 1024, with a stretched contrast.
[[nodiscard]] LoadedImage gray_picture(const LoadedImage& image);

}  // namespace warpalign::program
