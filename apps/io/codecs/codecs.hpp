// The readers and writers of each file format, for bytes in memory. They know no file names:
// image_file.cpp adds the name to their messages. Readers return the pixels as stored, with the
// file's orientation, which image_file.cpp applies.
#pragma once

#include "io/image_file.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

using Bytes = std::span<const std::byte>;

[[nodiscard]] LoadedImage read_png(Bytes file);
[[nodiscard]] LoadedImage read_tiff(Bytes file, std::optional<std::size_t> page);
[[nodiscard]] LoadedImage read_jpeg(Bytes file);
[[nodiscard]] LoadedImage read_webp(Bytes file);
[[nodiscard]] LoadedImage read_bmp(Bytes file);
[[nodiscard]] LoadedImage read_pnm(Bytes file);
/// An array of rows and columns, with or without a third axis of channels.
[[nodiscard]] LoadedImage read_npy_image(Bytes file);

[[nodiscard]] std::vector<std::byte> write_png(const LoadedImage& image);
[[nodiscard]] std::vector<std::byte> write_tiff(const LoadedImage& image);
[[nodiscard]] std::vector<std::byte> write_jpeg(const LoadedImage& image);
[[nodiscard]] std::vector<std::byte> write_pnm(const LoadedImage& image);

/// The error for a file that a format's library rejects, with the library's message.
[[nodiscard]] FileError damaged(const std::string& why);

/// Checks the size of an image before it is read. Throws FileError unless both sides are 1 to
/// `max_side` pixels and the image has at most max_pixels() pixels.
void check_sides(std::int64_t width, std::int64_t height);

/// The sizes that a header claims, and the bytes available.
struct ClaimedSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::uint64_t memory = 0;    ///< bytes to allocate
  std::uint64_t unpacked = 0;  ///< bytes that the decoder must produce
  std::uint64_t stored = 0;    ///< compressed bytes available
};

/// Throws FileError, before memory is allocated, if the compressed bytes cannot produce so much:
/// Deflate expands by at most 1032, and libjpeg's Huffman codes by about as much.
void refuse_bomb(const ClaimedSize& promise);

}  // namespace warpalign::program
