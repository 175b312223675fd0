// Reads files with POSIX calls, whose error codes tell what is wrong.
#include "io/file_bytes.hpp"

#include "io/read_failure.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace warpalign::program {
namespace {

constexpr std::size_t head_size = 16;
constexpr std::size_t max_file_bytes = std::size_t{8} << 30;

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw cannot_read(errno);
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw cannot_read(errno);
    if (S_ISDIR(status.st_mode)) throw FileError("is a directory; name an image file");
    read_up_to(head_size);
    if (bytes_.empty()) throw FileError("is empty; copy or export it again");
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

FileBytes::~FileBytes() { ::close(descriptor_); }

std::span<const std::byte> FileBytes::all() {
  struct stat status {};
  std::size_t target = std::size_t{1} << 20;
  if (::fstat(descriptor_, &status) == 0 && status.st_size > 0) {
    target = static_cast<std::size_t>(status.st_size) + 1;
  }
  while (read_up_to(std::min(target, max_file_bytes))) {
    if (target >= max_file_bytes) throw FileError("is larger than 8 GiB; crop or shrink it");
    target *= 2;
  }
  return bytes_;
}

/// Returns false if the file ends before `size` bytes.
bool FileBytes::read_up_to(std::size_t size) {
  std::size_t filled = bytes_.size();
  bytes_.resize(size);
  while (filled < size) {
    const ssize_t got = ::read(descriptor_, bytes_.data() + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw cannot_read(errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes_.resize(filled);
  return filled == size;
}

}  // namespace warpalign::program
