// Opens one page of an open file with libtiff.
#pragma once

#include "io/codecs/tiff_in_memory.hpp"
#include "io/frames/tiff_directories.hpp"

#include <cstdint>
#include <string>

namespace warpalign::program {

/// The source for libtiff: the file, with a header that presents a given page as the first one.
struct TiffAt {
  const InputFile& file;
  const TiffDirectories& directories;
  std::uint64_t directory = 0;  ///< the page's offset
  std::uint64_t position = 0;
  std::string message = {};  ///< libtiff's first error message
};

/// Opens the page in `at`, which must outlive the handle. Returns null if libtiff fails.
[[nodiscard]] TiffHandle open_tiff_page(TiffAt& at);

}  // namespace warpalign::program
