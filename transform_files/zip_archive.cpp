// Archives of files that are stored one after the other: PKWARE's APPNOTE.TXT, version 6.3.10.
#include "zip_archive.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace warpalign::transform_files {
namespace {

constexpr std::string_view local_mark("PK\3\4", 4), entry_mark("PK\1\2", 4), end_mark("PK\5\6", 4);
constexpr std::size_t local_size = 30, entry_size = 46, end_size = 22;
constexpr std::size_t max_comment = 65535;
constexpr std::size_t max_files = 65535;
constexpr std::uint64_t max_bytes = 0xFFFFFFFE;  // larger numbers mean an extension of the format
constexpr std::uint32_t date = 33;  // 1 January 1980, so that files do not depend on it

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) refuse("the archive is cut short");
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

/// Appends the lowest bytes of a value, at most 8, in little-endian order.
void append(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
}

std::string_view piece(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) refuse("the archive is cut short");
  return bytes.substr(at, size);
}

/// The cyclic redundancy check of the format.
std::uint32_t checksum(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320U : 0);
      values[i] = value;
    }
    return values;
  }();
  std::uint32_t sum = 0xFFFFFFFF;
  for (const char c : bytes) sum = sum >> 8 ^ table[(sum ^ static_cast<unsigned char>(c)) & 255];
  return ~sum;
}

}  // namespace

bool is_zip(std::string_view bytes) { return bytes.starts_with(local_mark); }

std::map<std::string, std::string_view, std::less<>> files_of_zip(std::string_view bytes) {
  const std::size_t tail =
      bytes.size() - std::min<std::size_t>(bytes.size(), end_size + max_comment);
  const std::size_t end = bytes.substr(tail).rfind(end_mark);
  if (!is_zip(bytes) || end == std::string_view::npos) refuse("the archive is cut short");
  if (bytes.size() - tail - end < end_size) refuse("the archive is cut short");
  const std::size_t count = number_at(bytes, tail + end + 10, 2);
  std::size_t at = number_at(bytes, tail + end + 16, 4);
  std::map<std::string, std::string_view, std::less<>> files;
  for (std::size_t i = 0; i < count; ++i) {
    if (piece(bytes, at, entry_size).substr(0, 4) != entry_mark) refuse("the archive is damaged");
    const std::uint32_t flags = number_at(bytes, at + 8, 2), method = number_at(bytes, at + 10, 2);
    const std::uint32_t sum = number_at(bytes, at + 16, 4);
    const std::size_t size = number_at(bytes, at + 20, 4);
    const std::size_t name_size = number_at(bytes, at + 28, 2);
    const std::size_t start = number_at(bytes, at + 42, 4);
    if (size > max_bytes || start > max_bytes) refuse("the archive is larger than 4 GiB");
    if ((flags & 1) != 0) refuse("the archive is encrypted");
    if (method != 0) refuse("the archive is compressed: save it with Transform.save");
    const std::string name(piece(bytes, at + entry_size, name_size));
    at += entry_size + name_size + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
    if (piece(bytes, start, local_size).substr(0, 4) != local_mark) {
      refuse("the archive is damaged");
    }
    const std::size_t data =
        start + local_size + number_at(bytes, start + 26, 2) + number_at(bytes, start + 28, 2);
    const std::string_view file = piece(bytes, data, size);
    if (checksum(file) != sum) refuse("the archive is damaged: a checksum is wrong");
    files[name] = file;
  }
  return files;
}

void ZipWriter::add(std::string_view name, std::string_view file) {
  if (++count_ > max_files || file.size() > max_bytes ||
      archive_.size() + directory_.size() + file.size() > max_bytes) {
    refuse("the archive would be larger than 4 GiB, or have more than 65535 files");
  }
  const std::size_t start = archive_.size();
  std::string facts;  // which both records have
  append(facts, 20, 2);
  append(facts, 0, 4);
  append(facts, 0, 2);
  append(facts, date, 2);
  append(facts, checksum(file), 4);
  append(facts, file.size(), 4);
  append(facts, file.size(), 4);
  append(facts, name.size(), 2);
  append(facts, 0, 2);
  archive_ += local_mark;
  archive_ += facts;
  archive_ += name;
  archive_ += file;
  directory_ += entry_mark;
  append(directory_, 20, 2);
  directory_ += facts;
  directory_.append(10, '\0');  // no comment, the first disk, and no attributes
  append(directory_, start, 4);
  directory_ += name;
}

std::string ZipWriter::finish() && {
  const std::size_t start = archive_.size();
  archive_ += directory_;
  archive_ += end_mark;
  append(archive_, 0, 4);
  append(archive_, count_, 2);
  append(archive_, count_, 2);
  append(archive_, directory_.size(), 4);
  append(archive_, start, 4);
  append(archive_, 0, 2);
  return std::move(archive_);
}

}  // namespace warpalign::transform_files
