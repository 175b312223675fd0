// Writes a gzip file piece by piece, with a beginning that is known only at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warpalign::program {

/// Compresses a stream of bytes to one member of gzip's format. The first bytes, such as a header
/// that counts what follows, are stored uncompressed, so that the file can be corrected at their
/// place. Each call returns the next bytes of the file.
class GzipWriter {
 public:
  /// Where begin() puts the first byte of the head in the file.
  static constexpr std::size_t head_offset = 15;

  /// What a later run needs to append to the file.
  struct State {
    std::uint32_t checksum = 0;  ///< of the bytes after the head
    std::uint64_t bytes = 0;     ///< after the head
  };

  GzipWriter();
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  /// `head`: at most 65535 bytes.
  [[nodiscard]] static std::vector<std::byte> begin(std::span<const std::byte> head);
  /// Continues a file that another writer began.
  void resume(const State& state) { written_ = state; }
  /// The result ends at a whole byte, from where another writer can continue.
  [[nodiscard]] std::vector<std::byte> add(std::span<const std::byte> bytes);
  /// `head`: as it now is in the file.
  [[nodiscard]] std::vector<std::byte> end(std::span<const std::byte> head);
  [[nodiscard]] const State& state() const { return written_; }

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  State written_;
};

}  // namespace warpalign::program
