// Where the pages of a TIFF file begin, found without libtiff: its numbers of pages are limited,
// and the time that it takes to go to a page grows with the page's number.
#pragma once

#include "io/frames/input_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

struct TiffDirectories {
  bool big = false;         ///< BigTIFF, with offsets of 8 bytes
  bool big_endian = false;  ///< the file's byte order
  /// Of each page's directory, in the file's order. Reduced images and masks are left out.
  std::vector<std::uint64_t> offsets;
  std::string broken;  ///< why there are no more of them; empty where the file says that it ends
};

/// Whether a file begins like a TIFF.
[[nodiscard]] bool is_tiff(std::span<const std::byte> head);

/// Follows the file's chain of directories. Throws FileError where there is no page, and where the
/// chain leads back into itself.
[[nodiscard]] TiffDirectories find_directories(const InputFile& file);

}  // namespace warpalign::program
