// Reads a file: its first bytes, and on demand all of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace warpalign::program {

/// An open file. Error messages omit its name; the caller adds it.
class FileBytes {
 public:
  /// Opens the file and reads its head. Throws FileError if it is missing, unreadable, a directory
  /// or empty.
  explicit FileBytes(const std::filesystem::path& path);
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  /// The first 16 bytes, or fewer if the file is shorter.
  [[nodiscard]] std::span<const std::byte> head() const noexcept { return bytes_; }
  /// Reads the rest. Throws FileError.
  [[nodiscard]] std::span<const std::byte> all();

 private:
  bool read_up_to(std::size_t size);

  int descriptor_ = -1;
  std::vector<std::byte> bytes_;
};

}  // namespace warpalign::program
