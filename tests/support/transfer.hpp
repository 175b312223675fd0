// Transfers of test data between the oracle's arrays and devices.
#pragma once

#include "reference/plane.hpp"

#include <warpalign/device.hpp>

namespace test {

/// The plane's values rounded to `type` (u8, u16 or f32), as an image on the device.
warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::Plane& plane,
                           warpalign::PixelType type = warpalign::PixelType::f32);
warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::Spectrum& spectrum);

/// Slice `slice` of an f32 image.
reference::Plane from_device(warpalign::Stream& stream, const warpalign::Image& image,
                             std::int64_t slice = 0);
/// Slice `slice` of a c32 image.
reference::Spectrum spectrum_from_device(warpalign::Stream& stream, const warpalign::Image& image,
                                         std::int64_t slice = 0);

/// Fills an image with NaN, so that a test notices pixels that a stage does not write.
void poison(warpalign::Stream& stream, warpalign::Image& image);

}  // namespace test
