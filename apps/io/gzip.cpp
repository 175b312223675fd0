// Reads and writes gzip's format with zlib, whose byte counters have 32 bits.
#include "io/gzip.hpp"

#include "io/image_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace warpalign::program {
namespace {

constexpr int gzip_window_bits = 15 + 16;  // the largest window, with gzip's header
// A fast level: more effort hardly compresses noisy voxels further.
constexpr int compression_level = 1;
constexpr std::size_t max_piece = std::numeric_limits<uInt>::max() / 2;

uInt piece(std::size_t bytes) { return static_cast<uInt>(std::min(bytes, max_piece)); }

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

struct GzipReader::State {
  /// Makes at least `count` bytes of the file available, unless it ends before them.
  void require(std::size_t count) {
    if (next && rest.size() < count) rest = next(rest.size());
  }

  NextPiece next;
  std::span<const std::byte> rest;
  z_stream stream{};
  bool ended = false;
};

GzipReader::GzipReader(std::span<const std::byte> file) : state_(std::make_unique<State>()) {
  state_->rest = file;
  if (inflateInit2(&state_->stream, gzip_window_bits) != Z_OK) throw std::bad_alloc();
}

GzipReader::GzipReader(NextPiece next) : GzipReader(std::span<const std::byte>{}) {
  state_->next = std::move(next);
}

GzipReader::~GzipReader() { inflateEnd(&state_->stream); }

bool GzipReader::ended() const noexcept { return state_->ended; }

std::size_t GzipReader::read(std::span<std::byte> target) {
  z_stream& stream = state_->stream;
  std::size_t filled = 0;
  while (filled < target.size() && !state_->ended) {
    state_->require(1);
    const uInt given = piece(state_->rest.size());
    const uInt room = piece(target.size() - filled);
    // zlib does not modify its input, although the pointer is not const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(state_->rest.data()));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(target.data() + filled);
    stream.avail_out = room;
    const int code = inflate(&stream, Z_NO_FLUSH);
    state_->rest = state_->rest.subspan(given - stream.avail_in);
    filled += room - stream.avail_out;
    if (code == Z_STREAM_END) {
      // A file may consist of several compressed members.
      state_->require(2);
      state_->ended = !is_gzip(state_->rest) || inflateReset(&stream) != Z_OK;
    } else if (code == Z_BUF_ERROR && state_->rest.empty()) {
      break;
    } else if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code != Z_OK) {
      throw FileError("is damaged: it cannot be decompressed; copy or export it again");
    }
  }
  return filled;
}

std::vector<std::byte> compress_gzip(std::span<const std::byte> bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, compression_level, Z_DEFLATED, gzip_window_bits, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::vector<std::byte> compressed;
  constexpr std::size_t step = std::size_t{1} << 20;
  int code = Z_OK;
  while (code == Z_OK) {
    const uInt given = piece(bytes.size());
    const std::size_t before = compressed.size();
    compressed.resize(before + step);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data() + before);
    stream.avail_out = static_cast<uInt>(step);
    code = deflate(&stream, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes = bytes.subspan(given - stream.avail_in);
    compressed.resize(before + step - stream.avail_out);
  }
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::bad_alloc();
  return compressed;
}

}  // namespace warpalign::program
