// Locates the pages of a TIFF file.
//
// A directory consists of a count, that many entries of 12 bytes (20 in BigTIFF), and the offset of
// the next directory.
#include "io/frames/tiff_directories.hpp"

#include "io/codecs/codecs.hpp"
#include "io/starts_with.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace warpalign::program {
namespace {

using namespace std::string_view_literals;

struct Directory {
  std::uint64_t next = 0;
  bool reduced = false;  ///< a smaller version of another page, or a mask
};

class Reader {
 public:
  Reader(const InputFile& file, bool big, bool big_endian)
      : file_(file), size_(file.size()), big_(big), big_endian_(big_endian) {}

  [[nodiscard]] std::uint64_t first() const {
    std::array<std::byte, 16> head{};
    const std::size_t got = file_.read_at(0, head);
    if (got < (big_ ? 16U : 8U)) throw damaged("it ends within its header");
    return big_ ? number(head.data() + 8, 8) : number(head.data() + 4, 4);
  }

  /// The directory at an offset, or nothing if it does not lie within the file.
  std::optional<Directory> directory(std::uint64_t offset) {
    const std::size_t count_bytes = big_ ? 8 : 2;
    const std::size_t entry_bytes = big_ ? 20 : 12;
    const std::size_t next_bytes = big_ ? 8 : 4;
    if (offset >= size_) return {};
    if (!read(offset, count_bytes)) return {};
    const std::uint64_t entries = number(bytes_.data(), count_bytes);
    if (entries > size_ / entry_bytes) return {};
    const std::size_t bytes =
        count_bytes + static_cast<std::size_t>(entries) * entry_bytes + next_bytes;
    if (bytes > size_ - offset) return {};
    taken_ += bytes;
    // Otherwise a file with overlapping directories would be read once for each of them.
    if (taken_ > size_) throw damaged("the directories of its pages overlap");
    if (!read(offset, bytes)) return {};
    Directory found;
    for (std::size_t i = 0; i < entries; ++i) {
      take_entry(bytes_.data() + count_bytes + i * entry_bytes, found);
    }
    found.next = number(bytes_.data() + count_bytes + entries * entry_bytes, next_bytes);
    return found;
  }

 private:
  /// Reads ahead, since most directories are small.
  bool read(std::uint64_t offset, std::size_t wanted) {
    if (offset == at_ && bytes_.size() >= wanted) return true;
    bytes_.resize(std::max<std::size_t>(wanted, 512));
    bytes_.resize(file_.read_at(offset, bytes_));
    at_ = offset;
    return bytes_.size() >= wanted;
  }

  void take_entry(const std::byte* entry, Directory& directory) const {
    constexpr std::uint64_t subfile_type = 254;
    constexpr std::uint64_t reduced_or_mask = 1 | 4;
    if (number(entry, 2) != subfile_type) return;
    directory.reduced = (number(entry + (big_ ? 12 : 8), 4) & reduced_or_mask) != 0;
  }

  [[nodiscard]] std::uint64_t number(const std::byte* bytes, std::size_t count) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = big_endian_ ? count - 1 - i : i;
      value |= std::to_integer<std::uint64_t>(bytes[i]) << 8 * place;
    }
    return value;
  }

  const InputFile& file_;
  std::uint64_t size_;
  bool big_;
  bool big_endian_;
  std::uint64_t at_ = ~std::uint64_t{0};
  std::uint64_t taken_ = 0;  ///< total bytes of the directories so far
  std::vector<std::byte> bytes_;
};

}  // namespace

bool is_tiff(std::span<const std::byte> head) {
  return starts_with(head, "II*\0"sv) || starts_with(head, "MM\0*"sv) ||
         starts_with(head, "II+\0"sv) || starts_with(head, "MM\0+"sv);
}

TiffDirectories find_directories(const InputFile& file) {
  std::array<std::byte, 4> head{};
  if (!is_tiff(std::span(head).first(file.read_at(0, head)))) throw FileError("is not a TIFF");
  TiffDirectories found;
  found.big_endian = head[0] == std::byte{'M'};
  found.big = head[found.big_endian ? 3 : 2] == std::byte{'+'};
  Reader reader(file, found.big, found.big_endian);
  std::unordered_map<std::uint64_t, std::size_t> seen;
  for (std::uint64_t offset = reader.first(); offset != 0;) {
    const auto [before, is_new] = seen.emplace(offset, seen.size());
    if (!is_new) {
      throw damaged(fmt::format("its pages form a loop: page {} is followed by page {}",
                                seen.size() - 1, before->second));
    }
    if (seen.size() > max_pages) throw damaged("it has more than 2^24 pages");
    const std::optional<Directory> directory = reader.directory(offset);
    if (!directory) {
      found.broken = fmt::format("is truncated: page {} lies beyond its end", seen.size() - 1);
      break;
    }
    if (!directory->reduced) found.offsets.push_back(offset);
    offset = directory->next;
  }
  if (!found.offsets.empty()) return found;
  throw damaged(found.broken.empty() ? "it has no page" : "its first page lies beyond its end");
}

}  // namespace warpalign::program
