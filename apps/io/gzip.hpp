// gzip's format (RFC 1952), by zlib.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace warpalign::program {

/// No file becomes larger than this many times its size (RFC 1951: 258 bytes of two bits).
inline constexpr std::size_t max_gzip_ratio = 1032;

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
  /// Whether everything was read, and its checksum is right.
  [[nodiscard]] bool ended() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::vector<std::byte> compress_gzip(std::span<const std::byte> bytes);

}  // namespace warpalign::program
