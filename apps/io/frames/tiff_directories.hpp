// Locates the pages of a TIFF file without libtiff, which limits the number of pages and needs time
// proportional to a page's number to reach it.
#pragma once

#include "io/frames/input_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// The most pages of a file. A file that says it has more is damaged.
inline constexpr std::size_t max_pages = std::size_t{1} << 24;

struct TiffDirectories {
  bool big = false;         ///< BigTIFF, with offsets of 8 bytes
  bool big_endian = false;  ///< the file's byte order
  /// The offset of each page's directory, in the file's order. Reduced images and masks are
  /// omitted.
  std::vector<std::uint64_t> offsets;
  std::string broken;  ///< why the chain breaks off; empty if it ends properly
};

/// Whether a file starts with the signature of a TIFF.
[[nodiscard]] bool is_tiff(std::span<const std::byte> head);

/// Follows the file's chain of directories. Throws FileError if there is no page, or if the chain
/// has a loop.
[[nodiscard]] TiffDirectories find_directories(const InputFile& file);

}  // namespace warpalign::program
