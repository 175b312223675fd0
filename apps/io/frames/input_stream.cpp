// Sequential access to bytes with POSIX calls.
#include "io/frames/input_stream.hpp"

#include "io/read_failure.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace warpalign::program {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

}  // namespace

InputStream::InputStream(const std::string& name) {
  if (name == "-") {
    descriptor_ = STDIN_FILENO;
    if (::isatty(descriptor_) == 1) {
      throw FileError("is a terminal; pipe a video into it, or redirect it from a file");
    }
    return;
  }
  descriptor_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw cannot_read(errno);
  owned_ = true;
}

InputStream::~InputStream() {
  if (owned_) ::close(descriptor_);
}

std::optional<std::uint64_t> InputStream::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputStream::read_some(std::span<std::byte> to) {
  while (true) {
    const ssize_t got = ::read(descriptor_, to.data(), to.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw cannot_read(errno);
  }
}

/// Refills the buffer. Returns false at the end.
bool InputStream::refill() {
  if (position_ < buffer_.size()) return true;
  buffer_.resize(buffer_bytes);
  buffer_.resize(read_some(buffer_));
  position_ = 0;
  return !buffer_.empty();
}

bool InputStream::at_end() { return !refill(); }

std::optional<std::string> InputStream::read_line(std::size_t limit) {
  std::string line;
  while (line.size() < limit && refill()) {
    const auto c = static_cast<char>(buffer_[position_++]);
    if (c == '\n') return line;
    line += c;
  }
  return {};
}

std::size_t InputStream::read(std::span<std::byte> to) {
  std::size_t filled = std::min(to.size(), buffer_.size() - position_);
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(position_), filled, to.begin());
  position_ += filled;
  while (filled < to.size()) {
    const std::size_t got = read_some(to.subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

std::uint64_t InputStream::skip(std::uint64_t count) {
  std::uint64_t skipped = 0;
  while (skipped < count && refill()) {
    const auto step = std::min<std::uint64_t>(count - skipped, buffer_.size() - position_);
    position_ += static_cast<std::size_t>(step);
    skipped += step;
  }
  return skipped;
}

}  // namespace warpalign::program
