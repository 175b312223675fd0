// gzip's format (RFC 1952), by zlib.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace warpalign::program {

/// Whether bytes begin as a compressed file does.
[[nodiscard]] bool is_gzip(std::span<const std::byte> bytes);

/// Decompresses a file as far as it is asked for, so that memory is never taken for more.
class GzipReader {
 public:
  /// `file` must outlive the reader.
  explicit GzipReader(std::span<const std::byte> file);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `target`, and returns how many bytes there were. Throws FileError where the file is
  /// damaged.
  std::size_t read(std::span<std::byte> target);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::vector<std::byte> compress_gzip(std::span<const std::byte> bytes);

}  // namespace warpalign::program
