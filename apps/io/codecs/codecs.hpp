// The readers and writers of each file format, on bytes in memory. They know no file's name:
// image_file.cpp puts it in front of their messages.
#pragma once

#include "io/image_file.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

using Bytes = std::span<const std::byte>;

[[nodiscard]] LoadedImage read_png(Bytes file);
[[nodiscard]] LoadedImage read_tiff(Bytes file);
[[nodiscard]] LoadedImage read_jpeg(Bytes file);
[[nodiscard]] LoadedImage read_pnm(Bytes file);

[[nodiscard]] std::vector<std::byte> write_png(const LoadedImage& image);
[[nodiscard]] std::vector<std::byte> write_tiff(const LoadedImage& image);
[[nodiscard]] std::vector<std::byte> write_jpeg(const LoadedImage& image);
[[nodiscard]] std::vector<std::byte> write_pnm(const LoadedImage& image);

/// The error for a file that a format's library gives up on, with the library's words.
[[nodiscard]] FileError damaged(const std::string& why);

/// Throws FileError unless both sides are 1 to `max_side` pixels.
void check_sides(std::int64_t width, std::int64_t height);

}  // namespace warpalign::program
