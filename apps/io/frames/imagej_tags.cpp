// Reads ImageJ's own tags from a page of a TIFF file. The bytes begin with a header: "IJIJ" and,
// for each kind of entry, its name and how many there are, as 32-bit numbers in the file's order.
// The entries follow, whose sizes the other tag tells.
#include "io/frames/imagej_tags.hpp"

#include "io/byte_order.hpp"

#include <cstring>
#include <numeric>
#include <span>

namespace warpalign::program {
namespace {

constexpr std::size_t max_imagej_bytes = std::size_t{1} << 24;

constexpr std::uint32_t name(const char (&letters)[5]) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = number << 8 | static_cast<unsigned char>(letters[i]);
  }
  return number;
}

/// The size of the numbers of an entry, whose bytes have an order.
std::size_t word_of(std::uint32_t kind) {
  if (kind == name("info") || kind == name("labl") || kind == name("prop")) return 2;  // UTF-16
  if (kind == name("rang")) return 8;
  return 1;
}

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t position) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.subspan(position).data(), sizeof number);
  return number;
}

/// Converts the bytes from big-endian order. Returns false if the header and the sizes disagree.
bool convert(ImageJTags& tags) {
  const std::span<std::byte> bytes(tags.bytes);
  const std::size_t header = tags.counts.front();
  reverse_words(bytes.first(header), 4);
  std::size_t entry = 1;
  std::size_t position = header;
  for (std::size_t at = 4; at + 8 <= header; at += 8) {
    const std::uint32_t kind = number_at(bytes, at);
    for (std::uint32_t left = number_at(bytes, at + 4); left > 0; --left) {
      if (entry == tags.counts.size()) return false;
      const std::size_t size = tags.counts[entry++];
      const std::size_t word = word_of(kind);
      if (size % word != 0) return false;
      if (word > 1) reverse_words(bytes.subspan(position, size), word);
      position += size;
    }
  }
  return entry == tags.counts.size();
}

}  // namespace

ImageJTags read_imagej_tags(TIFF* tiff, bool big_endian) {
  std::uint32_t count = 0;
  std::uint32_t size = 0;
  const std::uint32_t* counts = nullptr;
  const std::byte* bytes = nullptr;
  if (TIFFGetField(tiff, imagej_counts_tag, &count, &counts) != 1 ||
      TIFFGetField(tiff, imagej_bytes_tag, &size, &bytes) != 1) {
    return {};
  }
  if (count < 2 || size > max_imagej_bytes || counts == nullptr || bytes == nullptr) return {};
  ImageJTags tags{{counts, counts + count}, {bytes, bytes + size}};
  const std::uint32_t header = tags.counts.front();
  const std::uint64_t total =
      std::accumulate(tags.counts.begin(), tags.counts.end(), std::uint64_t{0});
  if (total != size || header < 12 || header % 4 != 0) return {};
  if (big_endian && !convert(tags)) return {};
  return tags;
}

}  // namespace warpalign::program
