// Reads bytes one after the other, decompressed if they are gzip's.
#include "io/byte_stream.hpp"

#include "io/file_bytes.hpp"
#include "io/gzip.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace warpalign::program {
namespace {

constexpr std::size_t compressed_piece = std::size_t{1} << 18;
// The limit of what cannot be known, such as the size of a pipe.
constexpr std::uint64_t unlimited = std::numeric_limits<std::int64_t>::max();

}  // namespace

struct ByteStream::State {
  explicit State(std::span<const std::byte> bytes) : memory(bytes), left(bytes.size()) {
    if (!is_gzip(bytes)) return;
    left = max_gzip_ratio * bytes.size();
    gzip.emplace(bytes);
  }

  explicit State(const std::filesystem::path& path) {
    file.emplace(path);
    left = file->size().value_or(unlimited);
    if (!is_gzip(file->head())) return;
    left = left < unlimited / max_gzip_ratio ? max_gzip_ratio * left : unlimited;
    piece.resize(compressed_piece);
    gzip.emplace([this](std::size_t keep) { return next_piece(keep); });
  }

  std::span<const std::byte> next_piece(std::size_t keep) {
    std::memmove(piece.data(), piece.data() + piece_size - keep, keep);
    piece_size = keep + file->next(std::span(piece).subspan(keep));
    return std::span(piece).first(piece_size);
  }

  std::size_t read(std::span<std::byte> target) {
    if (gzip) return gzip->read(target);
    if (file) return file->next(target);
    const std::size_t count = std::min(target.size(), memory.size());
    std::copy_n(memory.begin(), count, target.begin());
    memory = memory.subspan(count);
    return count;
  }

  std::span<const std::byte> memory;
  std::optional<FileBytes> file;
  std::vector<std::byte> piece;  // of the compressed file
  std::size_t piece_size = 0;
  std::optional<GzipReader> gzip;
  std::uint64_t left = 0;
};

ByteStream::ByteStream(std::span<const std::byte> file) : state_(std::make_unique<State>(file)) {}
ByteStream::ByteStream(const std::filesystem::path& file) : state_(std::make_unique<State>(file)) {}
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

std::size_t ByteStream::read(std::span<std::byte> target) {
  const std::size_t count = state_->read(target);
  state_->left -= std::min<std::uint64_t>(state_->left, count);
  return count;
}

std::uint64_t ByteStream::skip(std::uint64_t bytes) {
  std::array<std::byte, std::size_t{1} << 16> unused;
  std::uint64_t skipped = 0;
  while (skipped < bytes) {
    const std::size_t wanted = std::min<std::uint64_t>(unused.size(), bytes - skipped);
    const std::size_t count = read(std::span(unused).first(wanted));
    skipped += count;
    if (count < wanted) break;
  }
  return skipped;
}

bool ByteStream::cut_short() {
  std::byte next{};
  return state_->gzip && read(std::span(&next, 1)) == 0 && !state_->gzip->ended();
}

std::uint64_t ByteStream::limit() const { return state_->left; }

}  // namespace warpalign::program
