// Sequential access to the bytes of a file, a pipe or standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// A sequential stream. Error messages omit the name of the file; the caller adds it.
class InputStream {
 public:
  /// Opens the file, or standard input for "-". Throws FileError if it cannot be opened or is a
  /// terminal.
  explicit InputStream(const std::string& name);
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;
  ~InputStream();

  /// The size, if it is a regular file.
  [[nodiscard]] std::optional<std::uint64_t> size() const;
  /// Reads a line and its newline, and returns the line without it. Returns nothing if the end or
  /// `limit` bytes come first. Throws FileError.
  [[nodiscard]] std::optional<std::string> read_line(std::size_t limit);
  /// Reads into `to` until it is full or the stream ends. Returns the number of bytes read. Throws
  /// FileError.
  std::size_t read(std::span<std::byte> to);
  /// Skips up to `count` bytes and returns how many it skipped. Throws FileError.
  std::uint64_t skip(std::uint64_t count);
  /// Whether the end has been reached. Throws FileError.
  [[nodiscard]] bool at_end();

 private:
  bool refill();
  std::size_t read_some(std::span<std::byte> to);

  int descriptor_ = -1;
  bool owned_ = false;
  std::vector<std::byte> buffer_;
  std::size_t position_ = 0;  ///< of the next byte in the buffer
};

}  // namespace warpalign::program
