// Small examples of what the commands do, which make a device compile what these need.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign::program {

/// Both pipelines; pictures with and without masks, with impulses, and what writes a registered
/// picture.
void register_small_images(const Device& device, PixelType type);
/// Linear and cubic interpolation, the exact and the short prefilter, at affine and at given
/// points.
void resample_small_images(const Device& device, PixelType type);
void register_small_volumes(const Device& device, PixelType type);

}  // namespace warpalign::program
