// A self-contained HTML page.
#pragma once

#include "io/image_file.hpp"

#include <string>

namespace warpalign::program {

/// A page with this title and body in the program's style, which needs no other file.
[[nodiscard]] std::string html_page(const std::string& title, const std::string& body);

/// The image as a data URL with PNG data.
[[nodiscard]] std::string png_link(const LoadedImage& image);

/// The image as an HTML element with embedded data. `words`: its description.
[[nodiscard]] std::string html_image(const LoadedImage& image, const std::string& words);

}  // namespace warpalign::program
