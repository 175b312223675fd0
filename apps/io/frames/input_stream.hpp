// Bytes that come one after the other: of a file, a pipe, or standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// Messages do not name the file: the caller does.
class InputStream {
 public:
  /// "-": standard input. Throws FileError when it cannot be opened, and for a terminal.
  explicit InputStream(const std::string& name);
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;
  ~InputStream();

  /// The size of a regular file.
  [[nodiscard]] std::optional<std::uint64_t> size() const;
  /// Reads up to and including the next newline, which is not part of the result. Nothing where
  /// the end or `limit` bytes come first. Throws FileError.
  [[nodiscard]] std::optional<std::string> read_line(std::size_t limit);
  /// Fills `to` as far as the bytes go. Returns how many were read. Throws FileError.
  std::size_t read(std::span<std::byte> to);
  /// Passes over up to `count` bytes, and returns how many. Throws FileError.
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
