// Implements libtiff's client interface for one page of an open file.
#include "io/frames/tiff_at.hpp"

#include "io/image_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace warpalign::program {
namespace {

TiffAt& at_of(thandle_t handle) { return *static_cast<TiffAt*>(handle); }

/// Replaces the first page's offset in the bytes read by this page's offset.
void point_header(const TiffAt& at, std::byte* bytes, std::size_t count) {
  const std::size_t first = at.directories.big ? 8 : 4;
  const std::size_t width = first;  // the offset is as wide as the header before it
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t place = at.directories.big_endian ? width - 1 - i : i;
    if (first + i < at.position || first + i >= at.position + count) continue;
    bytes[first + i - at.position] = static_cast<std::byte>(at.directory >> 8 * place & 0xffU);
  }
}

tmsize_t read_bytes(thandle_t handle, void* target, tmsize_t size) {
  TiffAt& at = at_of(handle);
  auto* bytes = static_cast<std::byte*>(target);
  try {
    const std::size_t got = at.file.read_at(at.position, {bytes, static_cast<std::size_t>(size)});
    point_header(at, bytes, got);
    at.position += got;
    return static_cast<tmsize_t>(got);
  } catch (const FileError& error) {
    if (at.message.empty()) at.message = error.what();
    return -1;
  }
}

tmsize_t write_nothing(thandle_t /*handle*/, void* /*bytes*/, tmsize_t /*size*/) { return -1; }

toff_t file_size(thandle_t handle) {
  try {
    return at_of(handle).file.size();
  } catch (const FileError&) {
    return 0;
  }
}

toff_t seek(thandle_t handle, toff_t offset, int from) {
  TiffAt& at = at_of(handle);
  const toff_t base = from == SEEK_CUR ? at.position : from == SEEK_END ? file_size(handle) : 0;
  at.position = base + offset;
  return at.position;
}

int close_nothing(thandle_t /*handle*/) { return 0; }

void keep_message(thandle_t handle, const char* /*module*/, const char* format, va_list values) {
  if (handle == nullptr || !at_of(handle).message.empty()) return;
  std::array<char, 200> text{};
  std::vsnprintf(text.data(), text.size(), format, values);
  at_of(handle).message = text.data();
}

}  // namespace

TiffHandle open_tiff_page(TiffAt& at) {
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  TIFFSetErrorHandlerExt(keep_message);
  TIFF* tiff = TIFFClientOpen("page", "rm", &at, read_bytes, write_nothing, seek, close_nothing,
                              file_size, nullptr, nullptr);
  return {tiff, TIFFClose};
}

}  // namespace warpalign::program
