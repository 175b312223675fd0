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
  const std::size_t filled = bytes_.size();
  bytes_.resize(size);
  bytes_.resize(filled + read_into(std::span(bytes_).subspan(filled)));
  return bytes_.size() == size;
}

std::size_t FileBytes::read_into(std::span<std::byte> target) {
  std::size_t filled = 0;
  while (filled < target.size()) {
    const ssize_t got = ::read(descriptor_, target.data() + filled, target.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw cannot_read(errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::size_t FileBytes::next(std::span<std::byte> target) {
  const std::size_t from_head = std::min(target.size(), bytes_.size() - head_read_);
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(head_read_), from_head, target.begin());
  head_read_ += from_head;
  return from_head + read_into(target.subspan(from_head));
}

std::optional<std::uint64_t> FileBytes::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace warpalign::program
