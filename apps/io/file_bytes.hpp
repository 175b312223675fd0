// Reads a file: its first bytes, and on demand all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
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
  /// Reads the file from its start on, a piece with each call: fills `target`, and returns fewer
  /// bytes at the end. Keeps none of them in memory. Not together with all(). Throws FileError.
  [[nodiscard]] std::size_t next(std::span<std::byte> target);
  /// The size of a regular file in bytes.
  [[nodiscard]] std::optional<std::uint64_t> size() const;

 private:
  bool read_up_to(std::size_t size);
  [[nodiscard]] std::size_t read_into(std::span<std::byte> target);

  int descriptor_ = -1;
  std::vector<std::byte> bytes_;
  std::size_t head_read_ = 0;  // how many bytes of the head next() has returned
};

}  // namespace warpalign::program
