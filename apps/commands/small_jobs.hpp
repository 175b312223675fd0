// Small runs of what the commands do, which make a device compile the kernels.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign::program {

/// Runs both pipelines on images with and without masks and with impulse noise, and resamples a
/// registered image.
void register_small_images(const Device& device, PixelType type);
/// Runs linear and cubic interpolation with the exact and the short prefilter, at affine and at
/// arbitrary points.
void resample_small_images(const Device& device, PixelType type);
void register_small_volumes(const Device& device, PixelType type);

}  // namespace warpalign::program
