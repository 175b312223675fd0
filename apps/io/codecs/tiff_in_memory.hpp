// libtiff on bytes in memory, with its messages kept instead of printed.
#pragma once

#include <tiffio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// The source or the target of libtiff.
struct TiffMemory {
  std::span<const std::byte> readable;  ///< the file to read; empty when writing
  std::vector<std::byte> written;       ///< the file written
  std::size_t position = 0;
  std::string message;  ///< libtiff's first error message
};

using TiffHandle = std::unique_ptr<TIFF, void (*)(TIFF*)>;

/// Opens the file in `memory`, which must outlive the handle. Returns null if libtiff fails.
[[nodiscard]] TiffHandle open_tiff_for_reading(TiffMemory& memory);
[[nodiscard]] TiffHandle open_tiff_for_writing(TiffMemory& memory);

}  // namespace warpalign::program
