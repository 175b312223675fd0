// A file of a header and records of equal size, which can be resumed after the process was killed.
#pragma once

#include "io/atomic_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace warpalign::program {

class RecordFile {
 public:
  /// `kept`: if an earlier run left the file unfinished, the maximum number of complete records to
  /// keep. Without a value, nothing is kept, and this run leaves no unfinished file behind. Throws
  /// FileError.
  RecordFile(const std::filesystem::path& path, std::span<const std::byte> header,
             std::uint64_t record_bytes, std::optional<std::size_t> kept);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t records() const { return records_; }
  /// The offset of a record.
  [[nodiscard]] std::uint64_t offset_of(std::size_t record) const {
    return header_bytes_ + record * record_bytes_;
  }
  /// Appends a record: its head, its numbers, and zeros up to the record size. Throws FileError.
  void append(std::span<const std::byte> beginning, std::span<const std::byte> numbers);
  /// The same for a record of any number of pieces.
  void append(std::span<const std::span<const std::byte>> pieces);
  /// Reads the last bytes of the last record. Throws FileError.
  void read_end_of_last(std::span<std::byte> bytes) const;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    file_.write_at(offset, bytes);
  }
  void sync() { file_.sync(); }
  void commit() { file_.commit(); }

 private:
  std::filesystem::path path_;
  AtomicFile file_;
  std::uint64_t header_bytes_;
  std::uint64_t record_bytes_;
  std::size_t records_ = 0;
};

}  // namespace warpalign::program
