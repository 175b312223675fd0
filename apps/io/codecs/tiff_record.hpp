// Encodes uncompressed TIFF pages whose directories precede their pixels.
#pragma once

#include "io/image_file.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::program {

/// The start of a file, which the first directory follows immediately.
[[nodiscard]] std::vector<std::byte> tiff_header(bool big);

/// A page's directory with all its values, which the pixels follow immediately. `image`: the page's
/// shape and type. `offset`: of the directory. `next`: offset of the next directory, 0 for none.
[[nodiscard]] std::vector<std::byte> tiff_directory(const LoadedImage& image, bool big,
                                                    std::uint64_t offset, std::uint64_t next);

/// The position of the next directory's offset in a directory: 4 bytes, or 8 if big.
[[nodiscard]] std::size_t tiff_next_position(bool big);

/// The size of a page with its directory, rounded up so that directories are aligned.
[[nodiscard]] std::uint64_t tiff_record_bytes(const LoadedImage& image, bool big);

}  // namespace warpalign::program
