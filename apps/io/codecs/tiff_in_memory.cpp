// Implements libtiff's client interface for bytes in memory.
#include "io/codecs/tiff_in_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>

namespace warpalign::program {
namespace {

TiffMemory& memory_of(thandle_t handle) { return *static_cast<TiffMemory*>(handle); }

std::size_t size_of(const TiffMemory& memory) {
  return std::max(memory.readable.size(), memory.written.size());
}

tmsize_t read_bytes(thandle_t handle, void* target, tmsize_t size) {
  TiffMemory& memory = memory_of(handle);
  const std::byte* data = memory.readable.empty() ? memory.written.data() : memory.readable.data();
  const std::size_t end = size_of(memory);
  const std::size_t start = std::min(memory.position, end);
  const std::size_t count = std::min(static_cast<std::size_t>(size), end - start);
  if (count > 0) std::memcpy(target, data + start, count);
  memory.position = start + count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_bytes(thandle_t handle, void* bytes, tmsize_t size) {
  TiffMemory& memory = memory_of(handle);
  const std::size_t end = memory.position + static_cast<std::size_t>(size);
  try {
    if (end > memory.written.size()) memory.written.resize(end);
  } catch (const std::bad_alloc&) {
    return -1;
  }
  std::memcpy(memory.written.data() + memory.position, bytes, static_cast<std::size_t>(size));
  memory.position = end;
  return size;
}

tmsize_t write_nothing(thandle_t /*handle*/, void* /*bytes*/, tmsize_t /*size*/) { return -1; }

toff_t seek(thandle_t handle, toff_t offset, int from) {
  TiffMemory& memory = memory_of(handle);
  const std::size_t base = from == SEEK_CUR   ? memory.position
                           : from == SEEK_END ? size_of(memory)
                                              : 0;
  memory.position = base + static_cast<std::size_t>(offset);
  return memory.position;
}

int close_nothing(thandle_t /*handle*/) { return 0; }

toff_t file_size(thandle_t handle) { return size_of(memory_of(handle)); }

void keep_message(thandle_t handle, const char* /*module*/, const char* format, va_list values) {
  if (handle == nullptr || !memory_of(handle).message.empty()) return;
  std::array<char, 200> text{};
  std::vsnprintf(text.data(), text.size(), format, values);
  memory_of(handle).message = text.data();
}

TiffHandle open_tiff(TiffMemory& memory, const char* mode, TIFFReadWriteProc write) {
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  TIFFSetErrorHandlerExt(keep_message);
  TIFF* tiff = TIFFClientOpen("image", mode, &memory, read_bytes, write, seek, close_nothing,
                              file_size, nullptr, nullptr);
  return {tiff, TIFFClose};
}

}  // namespace

TiffHandle open_tiff_for_reading(TiffMemory& memory) {
  return open_tiff(memory, "rm", write_nothing);
}

TiffHandle open_tiff_for_writing(TiffMemory& memory) {
  return open_tiff(memory, "wm", write_bytes);
}

}  // namespace warpalign::program
