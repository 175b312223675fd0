// libtiff on a file that appears complete or not at all.
#include "io/mosaic/file_for_tiff.hpp"

#include "io/image_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>

namespace warpalign::program {
namespace {

FileForTiff& file_of(thandle_t handle) { return *static_cast<FileForTiff*>(handle); }

/// Runs `work`; libtiff, which is C, must not see exceptions.
template <typename Work>
tmsize_t guarded(FileForTiff& file, tmsize_t size, const Work& work) {
  try {
    if (!work()) return 0;
  } catch (...) {
    if (!file.failure) file.failure = std::current_exception();
    return -1;
  }
  file.position += static_cast<std::uint64_t>(size);
  return size;
}

tmsize_t read_bytes(thandle_t handle, void* target, tmsize_t size) {
  FileForTiff& file = file_of(handle);
  return guarded(file, size, [&] {
    return file.file.read_at(file.position,
                             {static_cast<std::byte*>(target), static_cast<std::size_t>(size)});
  });
}

tmsize_t write_bytes(thandle_t handle, void* bytes, tmsize_t size) {
  FileForTiff& file = file_of(handle);
  return guarded(file, size, [&] {
    file.file.write_at(file.position,
                       {static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)});
    return true;
  });
}

toff_t file_size(thandle_t handle) {
  FileForTiff& file = file_of(handle);
  try {
    return file.file.size();
  } catch (...) {
    if (!file.failure) file.failure = std::current_exception();
    return 0;
  }
}

toff_t seek(thandle_t handle, toff_t offset, int from) {
  FileForTiff& file = file_of(handle);
  const toff_t base = from == SEEK_CUR ? file.position : from == SEEK_END ? file_size(handle) : 0;
  file.position = base + offset;
  return file.position;
}

int close_nothing(thandle_t /*handle*/) { return 0; }

void keep_message(thandle_t handle, const char* /*module*/, const char* format, va_list values) {
  if (handle == nullptr || !file_of(handle).message.empty()) return;
  std::array<char, 200> text{};
  std::vsnprintf(text.data(), text.size(), format, values);
  file_of(handle).message = text.data();
}

}  // namespace

std::unique_ptr<TIFF, void (*)(TIFF*)> open_tiff_file(FileForTiff& file, bool big) {
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  TIFFSetErrorHandlerExt(keep_message);
  TIFF* tiff = TIFFClientOpen("picture", big ? "w8m" : "wm", &file, read_bytes, write_bytes, seek,
                              close_nothing, file_size, nullptr, nullptr);
  return {tiff, TIFFClose};
}

void throw_failure(const FileForTiff& file, const std::filesystem::path& path) {
  if (file.failure) std::rethrow_exception(file.failure);
  throw FileError(fmt::format("{}: libtiff failed: {}", path.string(),
                              file.message.empty() ? "unknown reason" : file.message));
}

}  // namespace warpalign::program
