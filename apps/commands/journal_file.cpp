// The file of a journal: lines with checksums, which one process at a time appends.
#include "commands/journal_file.hpp"

#include "commands/journal_words.hpp"
#include "io/image_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace warpalign::program {
namespace {

FileError cannot_write(const std::filesystem::path& path, int code) {
  return FileError(fmt::format("{}: cannot be written ({}); choose another folder for the output",
                               path.string(), std::strerror(code)));
}

}  // namespace

std::string journal_header(std::string_view kind, const RunFingerprint& fingerprint) {
  return fmt::format("{} {:016x} {:016x}", kind, fingerprint.inputs, fingerprint.options);
}

void refuse_other_run(const std::filesystem::path& path, const std::string& header,
                      const std::string& wanted) {
  const std::size_t inputs_end = wanted.rfind(' ');
  const bool same_inputs = header.substr(0, inputs_end) == wanted.substr(0, inputs_end);
  throw FileError(fmt::format(
      "{}: belongs to a run with different {}; finish that run, or remove the file to start "
      "again",
      path.string(), same_inputs ? "options" : "inputs"));
}

JournalFile::JournalFile(const std::filesystem::path& path)
    : path_(path),
      descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw cannot_write(path, errno);
  // A file without a name belongs to a run that is just ending and has removed it.
  struct stat status {};
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 || ::fstat(descriptor_, &status) != 0 ||
      status.st_nlink == 0) {
    ::close(descriptor_);
    throw FileError(
        fmt::format("{}: another process is working on this run; wait for it", path.string()));
  }
}

JournalFile::~JournalFile() { ::close(descriptor_); }

void JournalFile::refuse_other_files(std::string_view kind) const {
  const std::string_view title = kind.substr(0, kind.rfind(' ') + 1);  // without the version
  std::string start(title.size(), '\0');
  const ssize_t bytes = ::pread(descriptor_, start.data(), start.size(), 0);
  if (bytes < 0) throw cannot_write(path_, errno);
  start.resize(static_cast<std::size_t>(bytes));
  if (title.starts_with(start) || start.find_first_not_of('\0') == std::string::npos) return;
  throw FileError(
      fmt::format("{}: exists but is not a journal; remove it, or choose another name for the "
                  "output",
                  path_.string()));
}

void JournalFile::truncate(std::uint64_t end) {
  if (::ftruncate(descriptor_, static_cast<off_t>(end)) != 0) throw cannot_write(path_, errno);
}

void JournalFile::write(const std::string& line) {
  const std::string text = sealed(line);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw cannot_write(path_, errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void JournalFile::sync() {
  if (::fdatasync(descriptor_) != 0) throw cannot_write(path_, errno);
}

void JournalFile::remove() noexcept { ::unlink(path_.c_str()); }

}  // namespace warpalign::program
