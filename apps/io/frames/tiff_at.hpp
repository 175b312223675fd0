// libtiff on one page of an open file.
#pragma once

#include "io/codecs/tiff_in_memory.hpp"
#include "io/frames/tiff_directories.hpp"

#include <cstdint>
#include <string>

namespace warpalign::program {

/// What libtiff reads: the file, with a header that says that it begins with one certain page.
struct TiffAt {
  const InputFile& file;
  const TiffDirectories& directories;
  std::uint64_t directory = 0;  ///< the page's offset
  std::uint64_t position = 0;
  std::string message = {};  ///< libtiff's first complaint
};

/// Opens the page in `at`, which must outlive the handle. Null where libtiff refuses.
[[nodiscard]] TiffHandle open_tiff_page(TiffAt& at);

}  // namespace warpalign::program
