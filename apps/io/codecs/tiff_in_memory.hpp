// libtiff on bytes in memory, with its messages kept instead of printed.
#pragma once

#include <tiffio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// What libtiff reads from or writes to.
struct TiffMemory {
  std::span<const std::byte> readable;  ///< the file that is read; empty when one is written
  std::vector<std::byte> written;       ///< the file that is written
  std::size_t position = 0;
  std::string message;  ///< libtiff's first complaint
};

using TiffHandle = std::unique_ptr<TIFF, void (*)(TIFF*)>;

/// Opens the file in `memory`, which must outlive the handle. Null where libtiff refuses.
[[nodiscard]] TiffHandle open_tiff_for_reading(TiffMemory& memory);
[[nodiscard]] TiffHandle open_tiff_for_writing(TiffMemory& memory);

}  // namespace warpalign::program
