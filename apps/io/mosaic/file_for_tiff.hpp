// libtiff on a file that appears complete or not at all.
#pragma once

#include "io/atomic_file.hpp"

#include <tiffio.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace warpalign::program {

/// The file that libtiff writes, and what went wrong.
struct FileForTiff {
  explicit FileForTiff(const std::filesystem::path& path) : file(path) {}

  AtomicFile file;
  std::uint64_t position = 0;
  std::exception_ptr failure;  ///< the file's first error
  std::string message;         ///< libtiff's first error message
};

/// Opens the file for writing, as BigTIFF if `big`. The handle must not outlive `file`. Returns
/// null if libtiff fails.
[[nodiscard]] std::unique_ptr<TIFF, void (*)(TIFF*)> open_tiff_file(FileForTiff& file, bool big);

/// Throws the file's error, or FileError with libtiff's message.
[[noreturn]] void throw_failure(const FileForTiff& file, const std::filesystem::path& path);

}  // namespace warpalign::program
