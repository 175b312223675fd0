// Images of the C interface as those of the C++ one.
#pragma once

#include <warpalign/warpalign.h>
#include <warpalign/device.hpp>
#include <warpalign/pixel.hpp>

namespace warpalign::c_interface {

// All throw Error(invalid_argument), naming `what`.

[[nodiscard]] PixelType pixel_type(warpalign_pixel_type type, const char* what);
[[nodiscard]] warpalign_pixel_type type_number(PixelType type) noexcept;
/// Extents are taken as they are, but a depth of 0 is 1.
[[nodiscard]] Shape shape_of(const warpalign_image& image) noexcept;
[[nodiscard]] Shape shape_of(const warpalign_output& output) noexcept;
/// A plane with pixels.
[[nodiscard]] HostImage host_image(const warpalign_image* image, const char* what);

/// Uploads a plane with any row pitch, or a dense volume, to a new image.
[[nodiscard]] Image uploaded(const Device& device, Stream& stream, const warpalign_image& image,
                             const char* what);
/// The target must have memory.
void check_output(const warpalign_output& output, const char* what);
void download(Stream& stream, const Image& image, const warpalign_output& output);

}  // namespace warpalign::c_interface
