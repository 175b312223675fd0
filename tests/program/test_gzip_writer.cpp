// gzip files that are written piece by piece: the program's own reader reads them, and Python's
// gzip does in python/tests/test_program_series.py.
#include "io/gzip.hpp"
#include "io/gzip_writer.hpp"
#include "io/image_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;
using Bytes = std::vector<std::byte>;

Bytes noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 16);
  return bytes;
}

void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

Bytes decompressed(const Bytes& file) {
  GzipReader reader(file);
  Bytes bytes(std::size_t{1} << 22);
  bytes.resize(reader.read(bytes));
  CHECK(reader.ended());
  return bytes;
}

TEST_CASE("gzip, written piece by piece, with another head at the end") {
  const Bytes head = noise(352, 1);
  const Bytes final_head = noise(352, 2);
  GzipWriter writer;
  Bytes file = GzipWriter::begin(head);
  Bytes expected = final_head;
  for (unsigned i = 0; i < 4; ++i) {
    const Bytes piece = noise(i == 2 ? 0 : 300000, 3 + i);
    append(file, writer.add(piece));
    append(expected, piece);
  }
  std::ranges::copy(final_head, file.begin() + GzipWriter::head_offset);
  append(file, writer.end(final_head));
  CHECK(decompressed(file) == expected);
  CHECK(is_gzip(file));
  // Without the final head, the checksum is wrong.
  std::ranges::copy(head, file.begin() + GzipWriter::head_offset);
  CHECK_THROWS_AS((void)decompressed(file), FileError);
}

TEST_CASE("gzip: another writer continues the file") {
  const Bytes head = noise(540, 1);
  const Bytes first = noise(70000, 2), second = noise(70000, 3);
  Bytes file = GzipWriter::begin(head);
  GzipWriter::State state;
  {
    GzipWriter writer;
    append(file, writer.add(first));
    state = writer.state();
    (void)writer.add(second);  // lost
  }
  GzipWriter writer;
  writer.resume(state);
  append(file, writer.add(second));
  append(file, writer.end(head));
  Bytes expected = head;
  append(expected, first);
  append(expected, second);
  CHECK(decompressed(file) == expected);
}

TEST_CASE("gzip: a reader that gets the file in pieces of any length") {
  const Bytes bytes = noise(50000, 1);
  Bytes file = compress_gzip(bytes);
  append(file, compress_gzip(noise(30000, 2)));  // two members
  Bytes expected = bytes;
  append(expected, noise(30000, 2));
  for (const std::size_t step : {std::size_t{2}, std::size_t{3}, std::size_t{1000}, file.size()}) {
    CAPTURE(step);
    std::size_t at = 0;
    Bytes piece;
    GzipReader reader([&](std::size_t keep) {
      Bytes next(piece.end() - static_cast<std::ptrdiff_t>(keep), piece.end());
      const std::size_t count = std::min(step, file.size() - at);
      next.insert(next.end(), file.begin() + static_cast<std::ptrdiff_t>(at),
                  file.begin() + static_cast<std::ptrdiff_t>(at + count));
      at += count;
      piece = std::move(next);
      return std::span<const std::byte>(piece);
    });
    Bytes found(expected.size() + 1);
    found.resize(reader.read(found));
    CHECK(found == expected);
    CHECK(reader.ended());
  }
}

}  // namespace
}  // namespace warpalign::test
