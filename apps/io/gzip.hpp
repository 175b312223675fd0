// Reads and writes gzip's format (RFC 1952) with zlib.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace warpalign::program {

/// The largest compression ratio of Deflate (RFC 1951: 258 bytes from two bits).
inline constexpr std::size_t max_gzip_ratio = 1032;

/// Whether the bytes start like a compressed file.
[[nodiscard]] bool is_gzip(std::span<const std::byte> bytes);

/// Decompresses a file step by step, and allocates only the memory that the caller requests.
class GzipReader {
 public:
  /// Returns the next piece of the file. It begins with the last `keep` bytes of the piece before;
  /// at the end of the file, nothing follows them.
  using NextPiece = std::function<std::span<const std::byte>(std::size_t keep)>;

  /// `file` must outlive the reader.
  explicit GzipReader(std::span<const std::byte> file);
  /// Decompresses a file of which only a piece is in memory. A piece must stay valid until the
  /// next one is requested, and have at least two bytes unless the file ends.
  explicit GzipReader(NextPiece next);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `target` and returns the number of bytes. Throws FileError if the file is damaged.
  std::size_t read(std::span<std::byte> target);
  /// Whether everything was read and the checksum is correct.
  [[nodiscard]] bool ended() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::vector<std::byte> compress_gzip(std::span<const std::byte> bytes);

}  // namespace warpalign::program
