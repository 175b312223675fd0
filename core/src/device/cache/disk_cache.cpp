// A cache of byte strings in a folder, shared by processes.
#include "device/cache/disk_cache.hpp"

#include "device/cache/sha256.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <system_error>
#include <utility>

namespace warpalign::detail {

namespace {

constexpr std::string_view magic = "warpalign-cache-1\n";
constexpr std::string_view temporary_prefix = ".new-";

// Closes a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool open() const { return value_ >= 0; }

 private:
  int value_;
};

bool is_private_to_user(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool is_trusted_folder(const std::filesystem::path& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         is_private_to_user(status);
}

std::string failure(const std::filesystem::path& path, const char* what, int code) {
  return path.string() + " " + what + " (" + std::generic_category().message(code) + ")";
}

/// Returns why the folder cannot be used, or an empty string.
std::string make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder.parent_path(), failed);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return failure(folder, "cannot be made", failed ? failed.value() : errno);
  }
  if (is_trusted_folder(folder)) return {};
  return folder.string() +
         " must be a folder that belongs to this user and that other users cannot write to";
}

std::optional<std::string> read_all(int descriptor, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(descriptor, bytes.data() + done, size - done);
    if (n <= 0) return std::nullopt;
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string header_of(std::string_view key, std::string_view bytes) {
  return std::string(magic) + sha256_hex(key) + "\n" + sha256_hex(bytes) + "\n";
}

// Removes temporary files older than an hour, which processes left that were killed while storing.
// Uses readdir() because std::filesystem's iterators terminate the process if memory runs out.
void remove_leftovers(const std::filesystem::path& folder) noexcept {
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) return;
  constexpr std::time_t one_hour = 3600;
  const std::time_t now = std::time(nullptr);
  const int descriptor = ::dirfd(entries);
  while (const dirent* entry = ::readdir(entries)) {
    if (!std::string_view(entry->d_name).starts_with(temporary_prefix)) continue;
    struct stat status {};
    if (::fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        now - status.st_mtime > one_hour) {
      ::unlinkat(descriptor, entry->d_name, 0);
    }
  }
  ::closedir(entries);
}

}  // namespace

DiskCache::DiskCache(std::filesystem::path folder) : folder_(std::move(folder)) {
  // Behind a last slash the parent would be the folder itself, made with everybody's permissions.
  if (!folder_.has_filename()) folder_ = folder_.parent_path();
  if (!folder_.empty() && is_trusted_folder(folder_)) remove_leftovers(folder_);
}

std::optional<std::string> DiskCache::load(std::string_view key) const {
  if (folder_.empty() || !is_trusted_folder(folder_)) return std::nullopt;
  const std::filesystem::path file = folder_ / (sha256_hex(key) + ".bin");
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;  // a pipe is not waited for
  const Descriptor descriptor(::open(file.c_str(), flags));
  struct stat status {};
  if (!descriptor.open() || ::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !is_private_to_user(status)) {
    return std::nullopt;
  }
  auto content = read_all(descriptor.get(), static_cast<std::size_t>(status.st_size));
  const std::size_t header_size = magic.size() + 2 * (sha256_hex_length + 1);
  if (!content || content->size() < header_size) return std::nullopt;
  const std::string_view body = std::string_view(*content).substr(header_size);
  if (std::string_view(*content).substr(0, header_size) != header_of(key, body)) {
    return std::nullopt;
  }
  content->erase(0, header_size);
  return content;
}

std::string DiskCache::store(std::string_view key, std::string_view bytes) const {
  if (folder_.empty()) return "there is no cache folder: set HOME or XDG_CACHE_HOME";
  if (std::string problem = make_folder(folder_); !problem.empty()) return problem;
  const std::filesystem::path file = folder_ / (sha256_hex(key) + ".bin");
  std::string temporary = (folder_ / (std::string(temporary_prefix) + "XXXXXX")).string();
  {
    const Descriptor descriptor(::mkstemp(temporary.data()));  // readable by this user only
    if (!descriptor.open()) return failure(folder_, "cannot be written to", errno);
    if (write_all(descriptor.get(), header_of(key, bytes)) && write_all(descriptor.get(), bytes) &&
        ::rename(temporary.c_str(), file.c_str()) == 0) {
      return {};
    }
  }
  const int code = errno;
  ::unlink(temporary.c_str());
  return failure(folder_, "cannot be written to", code);
}

}  // namespace warpalign::detail
