// Conversion of images of the C interface to those of the C++ interface.
#pragma once

#include <warpalign/warpalign.h>
#include <warpalign/device.hpp>
#include <warpalign/pixel.hpp>

namespace warpalign::c_interface {

// These functions throw Error(invalid_argument). The message begins with `what`.

[[nodiscard]] PixelType pixel_type(warpalign_pixel_type type, const char* what);
[[nodiscard]] warpalign_pixel_type type_number(PixelType type) noexcept;
/// Converts the extents without checks. A depth of 0 becomes 1.
[[nodiscard]] Shape shape_of(const warpalign_image& image) noexcept;
[[nodiscard]] Shape shape_of(const warpalign_output& output) noexcept;
/// Requires an image with pixels and depth 1.
[[nodiscard]] HostImage host_image(const warpalign_image* image, const char* what);
/// Requires voxels with dense rows.
[[nodiscard]] HostVolume host_volume(const warpalign_image* volume, const char* what);

/// Uploads an image with any row pitch, or a dense volume, to a new image.
[[nodiscard]] Image uploaded(const Device& device, Stream& stream, const warpalign_image& image,
                             const char* what);
/// Requires a target with memory and a known pixel type.
void check_output(const warpalign_output& output, const char* what);
void download(Stream& stream, const Image& image, const warpalign_output& output);

}  // namespace warpalign::c_interface
