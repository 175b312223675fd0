// Writes a gzip file piece by piece (RFC 1952 and 1951).
#include "io/gzip_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace warpalign::program {
namespace {

constexpr int raw_window_bits = -15;  // Deflate without a frame
constexpr int level = 1;              // more effort hardly compresses noisy voxels further

void put_number(std::vector<std::byte>& bytes, std::uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(number >> 8 * i & 0xffU));
}

std::uint32_t checksum_of(std::uint32_t before, std::span<const std::byte> bytes) {
  uLong checksum = before;
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    checksum =
        crc32(checksum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(count));
    bytes = bytes.subspan(count);
  }
  return static_cast<std::uint32_t>(checksum);
}

}  // namespace

struct GzipWriter::Stream {
  Stream() {
    if (deflateInit2(&zlib, level, Z_DEFLATED, raw_window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Stream() { deflateEnd(&zlib); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::vector<std::byte> compress(std::span<const std::byte> bytes, int flush) {
    std::vector<std::byte> compressed;
    constexpr std::size_t step = std::size_t{1} << 18;
    constexpr std::size_t largest = std::numeric_limits<uInt>::max() / 2;
    for (;;) {
      const auto given = static_cast<uInt>(std::min(bytes.size(), largest));
      const bool last = given == bytes.size();
      zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
      zlib.avail_in = given;
      do {
        const std::size_t before = compressed.size();
        compressed.resize(before + step);
        zlib.next_out = reinterpret_cast<Bytef*>(compressed.data() + before);
        zlib.avail_out = static_cast<uInt>(step);
        if (deflate(&zlib, last ? flush : Z_NO_FLUSH) == Z_STREAM_ERROR) throw std::bad_alloc();
        compressed.resize(before + step - zlib.avail_out);
      } while (zlib.avail_out == 0);
      if (last) return compressed;
      bytes = bytes.subspan(given);
    }
  }

  z_stream zlib{};
};

GzipWriter::GzipWriter() : stream_(std::make_unique<Stream>()) {}
GzipWriter::~GzipWriter() = default;

std::vector<std::byte> GzipWriter::begin(std::span<const std::byte> head) {
  std::vector<std::byte> file;
  // Magic number, Deflate, no name, no time, fastest compression, any system.
  for (const int byte : {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255}) {
    file.push_back(static_cast<std::byte>(byte));
  }
  // A stored block that is not the last one.
  put_number(file, 0, 1);
  put_number(file, head.size(), 2);
  put_number(file, ~head.size(), 2);
  file.insert(file.end(), head.begin(), head.end());
  return file;
}

std::vector<std::byte> GzipWriter::add(std::span<const std::byte> bytes) {
  std::vector<std::byte> compressed = stream_->compress(bytes, Z_FULL_FLUSH);
  written_.checksum = checksum_of(written_.checksum, bytes);
  written_.bytes += bytes.size();
  return compressed;
}

std::vector<std::byte> GzipWriter::end(std::span<const std::byte> head) {
  std::vector<std::byte> last = stream_->compress({}, Z_FINISH);
  const uLong checksum =
      crc32_combine(checksum_of(0, head), written_.checksum, static_cast<z_off_t>(written_.bytes));
  put_number(last, checksum, 4);
  put_number(last, (head.size() + written_.bytes) & 0xffffffffU, 4);
  return last;
}

}  // namespace warpalign::program
