// A file that appears complete or not at all: temporary file, fsync, link or rename.
#include "io/atomic_file.hpp"

#include "io/image_file.hpp"
#include "io/messages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace warpalign::program {
namespace {

/// The folder in which Linux names this process's open files.
constexpr const char* descriptors = "/proc/self/fd";

/// The existing temporary files, in memory that a signal handler may read.
struct Temporary {
  volatile std::sig_atomic_t exists = 0;
  std::array<char, 4096> path{};
};
std::array<Temporary, 8> temporaries;

extern "C" void remove_temporaries_and_die(int signal_number) {
  for (Temporary& temporary : temporaries) {
    if (temporary.exists != 0) ::unlink(temporary.path.data());
  }
  ::raise(signal_number);
}

/// Removes the temporary files on signals from the user and on crashes, for example of a device's
/// driver. Signals that were ignored at start (nohup) stay ignored.
void install_handlers() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGABRT, SIGSEGV,
                           SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction before {};
    if (::sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = remove_temporaries_and_die;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    ::sigaction(number, &action, nullptr);
  }
}

void remember(const std::string& path) {
  install_handlers();
  for (Temporary& temporary : temporaries) {
    if (temporary.exists != 0 || path.size() >= temporary.path.size()) continue;
    std::memcpy(temporary.path.data(), path.c_str(), path.size() + 1);
    temporary.exists = 1;
    return;
  }
}

void forget(const std::string& path) noexcept {
  for (Temporary& temporary : temporaries) {
    if (temporary.exists != 0 && path == temporary.path.data()) temporary.exists = 0;
  }
}

FileError cannot_write(const std::filesystem::path& path, int code) {
  return FileError(fmt::format("{}: cannot be written ({}); choose another folder", path.string(),
                               std::strerror(code)));
}

/// The status of a file, or nothing if it does not exist.
std::optional<mode_t> mode_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return status.st_mode & 07777U;
}

/// Refuses to replace a read-only file, although rename() could.
void check_replaceable(const std::filesystem::path& named, const std::filesystem::path& target) {
  if (named == "-") {
    throw FileError(
        "-: standard output ('-') is not supported here; name a file (./- for a file called '-')");
  }
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw cannot_write(named, errno);
  }
  if (S_ISDIR(status.st_mode)) throw cannot_write(named, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw FileError(fmt::format("{}: is not a regular file; choose another name", named.string()));
  }
  if (::access(target.c_str(), W_OK) != 0) throw cannot_write(named, errno);
}

std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path resolved = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : resolved;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& target, Unfinished unfinished)
    : named_(target), target_(behind_links(target)), unfinished_(unfinished) {
  check_replaceable(named_, target_);
  if (unfinished_ == Unfinished::kept) {
    open_partial();
  } else {
    make_temporary();
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0) mode_ = status.st_mode & 07777U;
}

// The system derives the mode of a new file from the umask, which cannot be read without setting it
// for all threads. A file that replaces another one may be confidential, so it is created with mode
// 0600 and gets the mode of the other file at the end. A file without a name disappears with the
// process, however it ends. If the file system does not support such files, the file has a
// temporary name.
void AtomicFile::make_temporary() {
  const std::filesystem::path folder = target_.parent_path();
  const mode_t mode = mode_of(target_) ? 0600 : 0666;
  if (::access(descriptors, X_OK) == 0) {
    descriptor_ =
        ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (descriptor_ >= 0) return;
  }
  static std::atomic<unsigned> made = 0;
  do {  // repeat if a process with the same id has left a file of this name
    temporary_ = folder / fmt::format(".warpalign-{}-named-{}", ::getpid(), made++);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) throw cannot_write(named_, errno);
  remember(temporary_.native());
}

void AtomicFile::open_partial() {
  temporary_ = target_.string() + ".partial";
  descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw cannot_write(named_, errno);
  truncate(size());  // append at the end
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (unfinished_ == Unfinished::removed) remove_temporary();
}

void AtomicFile::remove_temporary() noexcept {
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget(temporary_.native());
  temporary_.clear();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw cannot_write(named_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw cannot_write(named_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

bool AtomicFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw cannot_write(named_, errno);
    if (got == 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

std::uint64_t AtomicFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw cannot_write(named_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void AtomicFile::truncate(std::uint64_t size) {
  const auto end = static_cast<off_t>(size);
  if (::ftruncate(descriptor_, end) != 0 || ::lseek(descriptor_, end, SEEK_SET) < 0) {
    throw cannot_write(named_, errno);
  }
}

void AtomicFile::sync() {
  if (::fdatasync(descriptor_) != 0) throw cannot_write(named_, errno);
}

// Gives a file without a name the target's name or, if the target exists, a temporary name.
void AtomicFile::give_name() {
  const std::string self = fmt::format("{}/{}", descriptors, descriptor_);
  const auto link_to = [&](const std::filesystem::path& name) {
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link_to(target_)) return;
  const std::filesystem::path name =
      target_.parent_path() / fmt::format(".warpalign-{}-{}", ::getpid(), descriptor_);
  if (errno == EEXIST) ::unlink(name.c_str());  // left by a process with the same id
  if (!link_to(name)) throw cannot_write(named_, errno);
  temporary_ = name;
  remember(name);
}

void AtomicFile::commit() {
  if (::fchmod(descriptor_, mode_of(target_).value_or(mode_)) != 0 || ::fsync(descriptor_) != 0) {
    throw cannot_write(named_, errno);
  }
  if (temporary_.empty()) give_name();
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) throw cannot_write(named_, errno);
  if (!temporary_.empty()) {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw cannot_write(named_, errno);
    forget(temporary_.native());
    temporary_.clear();
  }
  detail(named_.string() + " is written");
}

}  // namespace warpalign::program
