// A file of a header and records of equal size.
#include "io/frames/record_file.hpp"

#include "io/image_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace warpalign::program {

RecordFile::RecordFile(const std::filesystem::path& path, std::span<const std::byte> header,
                       std::uint64_t record_bytes, std::optional<std::size_t> kept)
    : path_(path),
      file_(path, kept ? Unfinished::kept : Unfinished::removed),
      header_bytes_(header.size()),
      record_bytes_(record_bytes) {
  const std::uint64_t size = file_.size();
  if (size > header_bytes_) {
    const std::uint64_t whole = (size - header_bytes_) / record_bytes_;
    records_ = static_cast<std::size_t>(std::min<std::uint64_t>(whole, kept.value_or(0)));
  }
  file_.truncate(0 == records_ ? 0 : offset_of(records_));
  if (records_ == 0) file_.write(header);
}

void RecordFile::append(std::span<const std::byte> beginning, std::span<const std::byte> numbers) {
  append(std::array{beginning, numbers});
}

void RecordFile::append(std::span<const std::span<const std::byte>> pieces) {
  std::uint64_t rest = record_bytes_;
  for (const std::span<const std::byte> piece : pieces) {
    if (!piece.empty()) file_.write(piece);
    rest -= piece.size();
  }
  if (rest > 0) file_.write(std::vector<std::byte>(static_cast<std::size_t>(rest)));
  ++records_;
}

void RecordFile::read_end_of_last(std::span<std::byte> bytes) const {
  if (file_.read_at(offset_of(records_) - bytes.size(), bytes)) return;
  throw FileError(
      fmt::format("{}: another program changed the file while it was being written; start again",
                  path_.string()));
}

}  // namespace warpalign::program
