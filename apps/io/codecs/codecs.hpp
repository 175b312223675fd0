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

/// For an image that is read. Throws FileError unless both sides are 1 to `max_side` pixels, and for
/// more than max_pixels().
void check_sides(std::int64_t width, std::int64_t height);

/// What a header promises, and what there is of it.
struct Promise {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::uint64_t memory = 0;    ///< bytes that would be allocated
  std::uint64_t unpacked = 0;  ///< bytes that the decoder must produce
  std::uint64_t stored = 0;    ///< bytes that it has to produce them from
};

/// Throws FileError, before memory is allocated, where so much cannot come from so little: Deflate
/// makes at most 1032 bytes of one, and libjpeg's Huffman codes about as many.
void refuse_bomb(const Promise& promise);

}  // namespace warpalign::program
