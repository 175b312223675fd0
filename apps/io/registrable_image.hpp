// Images and masks as the registrar takes them.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/registrar.hpp>

#include <functional>
#include <string>

namespace warpalign::program {

/// Loads an image that is large enough to be registered. Throws FileError or UsageError.
[[nodiscard]] LoadedImage load_registrable(const std::filesystem::path& path);

/// A gray 8-bit image: 255 where a pixel counts, 0 where every channel of the mask's file is 0 (or
/// NaN). Throws FileError, and UsageError for a mask of another size than `image` (which the
/// message calls `image_name`) or one that excludes every pixel.
[[nodiscard]] LoadedImage load_mask(const std::filesystem::path& path, const Shape& image,
                                    const std::string& image_name);

/// The gray image or mask as the library's view of host memory.
[[nodiscard]] HostImage view_of(const LoadedImage& gray);

/// Runs `work` on the pixels of `path`; where the library refuses them, throws UsageError with
/// that name.
void naming(const std::filesystem::path& path, const std::function<void()>& work);

/// Throws Error(device_failure) unless all numbers of a result are finite.
void require_finite(const RegistrationResult& result);

}  // namespace warpalign::program
