// The size limit of images, frames and arrays that are read.
#pragma once

#include <cstdint>

namespace warpalign::program {

/// Sets the limit of --max-pixels for the whole process. Initially there is no limit.
void set_max_pixels(std::int64_t pixels);
/// The limit. Images, frames and arrays above it are refused after their headers are read, before
/// memory is allocated. It does not apply to outputs, such as a page of pictures.
[[nodiscard]] std::int64_t max_pixels();

}  // namespace warpalign::program
