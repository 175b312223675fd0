// The bytes of an uncompressed TIFF page whose directory stands before its pixels.
#pragma once

#include "io/image_file.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::program {

/// The bytes at the start of a file, whose first directory follows at once.
[[nodiscard]] std::vector<std::byte> tiff_header(bool big);

/// A page's directory, all its values included; its pixels follow at once. `image`: the page's
/// shape and type. `offset`: where the directory stands. `next`: where the next one does, 0 for
/// none.
[[nodiscard]] std::vector<std::byte> tiff_directory(const LoadedImage& image, bool big,
                                                    std::uint64_t offset, std::uint64_t next);

/// Where in a directory the next one's offset stands, which takes 4 bytes, or 8 if big.
[[nodiscard]] std::size_t tiff_next_position(bool big);

/// The bytes of a page with its directory, rounded up so that directories are aligned.
[[nodiscard]] std::uint64_t tiff_record_bytes(const LoadedImage& image, bool big);

}  // namespace warpalign::program
