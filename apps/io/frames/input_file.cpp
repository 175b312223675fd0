// Random access to a file with POSIX calls, whose error codes tell what is wrong.
#include "io/frames/input_file.hpp"

#include "io/read_failure.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace warpalign::program {
InputFile::InputFile(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw cannot_read(errno);
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) return;
  const int code = errno;
  ::close(descriptor_);
  if (!known) throw cannot_read(code);
  throw FileError("is not a regular file; name an image file");
}

InputFile::~InputFile() { ::close(descriptor_); }

std::uint64_t InputFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw cannot_read(errno);
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  std::size_t filled = 0;
  while (filled < to.size()) {
    const ssize_t got = ::pread(descriptor_, to.data() + filled, to.size() - filled,
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw cannot_read(errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

}  // namespace warpalign::program
