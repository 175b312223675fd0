// How large the images, frames and arrays may be that are read.
#pragma once

#include <cstdint>

namespace warpalign::program {

/// As --max-pixels says; any number before. It is for the whole process.
void set_max_pixels(std::int64_t pixels);
/// Larger images, frames and arrays are refused by their headers, before memory is allocated for
/// them. What the program makes itself, such as a page of pictures, is not limited by it.
[[nodiscard]] std::int64_t max_pixels();

}  // namespace warpalign::program
