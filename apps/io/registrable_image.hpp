// Prepares images and masks for the registrar.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/registrar.hpp>

#include <functional>
#include <string>

namespace warpalign::program {

/// Loads an image that is large enough to be registered, as load_image() does. Throws FileError or
/// UsageError.
[[nodiscard]] LoadedImage load_registrable(const std::filesystem::path& path,
                                           std::optional<std::size_t> page = {});

/// Loads a mask as a gray 8-bit image: 0 where every channel of the file is 0 or NaN, else 255.
/// Throws FileError, and UsageError for a mask of a different size than `image` (called
/// `image_name` in the message) or one that excludes every pixel.
[[nodiscard]] LoadedImage load_mask(const std::filesystem::path& path, const Shape& image,
                                    const std::string& image_name);

/// The gray image or mask as the library's view of host memory.
[[nodiscard]] HostImage view_of(const LoadedImage& gray);

/// Runs `work`. If the library refuses the pixels, throws UsageError with the name `path`.
void naming(const std::filesystem::path& path, const std::function<void()>& work);

/// Throws Error(device_failure) unless all numbers of a result are finite.
void require_finite(const RegistrationResult& result);

}  // namespace warpalign::program
