// A self-contained HTML page.
#pragma once

#include "io/image_file.hpp"

#include <string>

namespace warpalign::program {

/// The page with this title and body, in the program's style; it needs no other file.
[[nodiscard]] std::string html_page(const std::string& title, const std::string& body);

/// The image as a link's target that holds its pixels, as PNG.
[[nodiscard]] std::string png_link(const LoadedImage& image);

/// The image as an element of the page, with its pixels in it. `words`: what it shows.
[[nodiscard]] std::string html_image(const LoadedImage& image, const std::string& words);

}  // namespace warpalign::program
