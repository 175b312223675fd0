// Reads bytes one after the other, decompressed if they are gzip's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace warpalign::program {

/// The bytes of a file from its start to its end. Memory does not grow with the file. Messages omit
/// the name of the file.
class ByteStream {
 public:
  /// The bytes of a file that is in memory, which must outlive the stream.
  explicit ByteStream(std::span<const std::byte> file);
  /// Opens a file. Throws FileError.
  explicit ByteStream(const std::filesystem::path& file);
  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ~ByteStream();

  /// Fills `target`, and returns fewer bytes at the end. Throws FileError if the file cannot be
  /// read or is damaged.
  [[nodiscard]] std::size_t read(std::span<std::byte> target);
  /// Passes over bytes, and returns how many there were.
  std::uint64_t skip(std::uint64_t bytes);
  /// Whether a compressed file ends before its checksum. Call it at the end of the contents.
  [[nodiscard]] bool cut_short();
  /// An upper bound of the number of bytes that remain.
  [[nodiscard]] std::uint64_t limit() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign::program
