// The journal of `stack --resume`.
//
// Each line consists of words and a checksum. The first line identifies the run. An "origin" line
// names the frame from which the drift leads. A "boot" line names the boot of the machine during
// which the following lines were written. A "frame" line describes a frame. A "mark" line states
// that the outputs of all frames before it have reached the disk.
#include "commands/stack_journal.hpp"

#include "commands/journal_line.hpp"
#include "io/image_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

/// An identifier of the current boot of the machine; empty if it is not available.
std::string present_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

FileError cannot_write(const Path& path, int code) {
  return FileError(fmt::format("{}: cannot be written ({}); choose another folder for the output",
                               path.string(), std::strerror(code)));
}

constexpr std::string_view journal_title = "warpalign-stack-journal ";

std::string header(const RunFingerprint& fingerprint) {
  return fmt::format("{}3 {:016x} {:016x}", journal_title, fingerprint.inputs, fingerprint.options);
}

/// Determines which lines of a journal are valid, and whether it belongs to this run.
class JournalScan {
 public:
  JournalScan(const Path& path, const RunFingerprint& fingerprint) {
    std::ifstream file(path, std::ios::binary);
    std::uint64_t position = 0;
    for (std::string line; std::getline(file, line) && !file.eof();) {
      const std::optional<std::string> content = unsealed(line);
      has_other_lines_ = has_other_lines_ || (position > 0 && !is_without_work(content));
      if (!content) break;
      if (position == 0) header_ = *content;
      position += line.size() + 1;
      take(*content, position);
    }
    if (position > 0 && header_ != header(fingerprint)) {
      if (has_other_lines_) refuse(path, fingerprint);
      seen_ = {};
      return;
    }
    const std::string boot = present_boot();
    if (boot.empty() || boot != boot_) seen_ = marked_;
  }

  struct Trusted {
    std::uint64_t end = 0;  ///< offset in bytes; 0 if the journal must be started again
    std::size_t frames = 0;
    std::optional<std::size_t> last_reliable;
    std::optional<DriftOrigin> origin;
  };
  [[nodiscard]] const Trusted& trusted() const { return seen_; }

 private:
  /// Whether this is a line that a journal may contain before its first frame.
  static bool is_without_work(const std::optional<std::string>& line) {
    return line && (line->starts_with("boot ") || line->starts_with("origin ") || *line == "mark");
  }

  [[noreturn]] void refuse(const Path& path, const RunFingerprint& fingerprint) const {
    const std::string wanted = header(fingerprint);
    const std::size_t inputs_end = wanted.rfind(' ');
    const bool same_inputs = header_.substr(0, inputs_end) == wanted.substr(0, inputs_end);
    throw FileError(fmt::format(
        "{}: belongs to a run with different {}; finish that run, or remove the file to start "
        "again",
        path.string(), same_inputs ? "options" : "inputs"));
  }

  void take(const std::string& content, std::uint64_t end) {
    seen_.end = end;
    if (const std::optional<StackFrame> frame = parse_journal_line(content)) {
      ++seen_.frames;
      if (frame->place.reliable) seen_.last_reliable = frame->index;
    }
    if (content.starts_with("boot ")) boot_ = content.substr(5);
    if (const std::optional<DriftOrigin> origin = parse_origin_line(content)) {
      seen_.origin = origin;
    } else if (seen_.frames > 0 && !seen_.origin) {
      seen_.origin = DriftOrigin{};
    }
    if (content == "mark" || seen_.frames == 0) marked_ = seen_;
  }

  std::string header_;
  bool has_other_lines_ = false;  ///< frames, or lines of an unknown kind
  std::string boot_;
  Trusted seen_;
  Trusted marked_;
};

}  // namespace

JournalReader::JournalReader(const Path& path, std::uint64_t end)
    : file_(path, std::ios::binary), end_(end) {
  advance();
}

void JournalReader::advance() {
  head_.reset();
  std::string line;
  while (!head_ && file_ && static_cast<std::uint64_t>(file_.tellg()) < end_ &&
         std::getline(file_, line)) {
    head_ = parse_journal_line(unsealed(line).value_or(""));
  }
}

std::optional<StackFrame> JournalReader::find(std::size_t index) {
  while (head_ && head_->index < index) advance();
  if (!head_ || head_->index != index) return {};
  return head_;
}

StackJournal::StackJournal(const Path& path, const RunFingerprint& fingerprint)
    : path_(path),
      fingerprint_(fingerprint),
      descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw cannot_write(path, errno);
  try {
    open(fingerprint);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

// Removes a journal without frames: it would only make the next run with other options fail.
StackJournal::~StackJournal() {
  if (!has_frames_ && !is_removed_) ::unlink(path_.c_str());
  ::close(descriptor_);
}

// Refuses to overwrite a file that is not a journal. A process that was killed at its start leaves
// an empty file or the beginning of a header, and a crash of the machine may leave zeros.
void StackJournal::refuse_other_files() const {
  std::string start(journal_title.size(), '\0');
  const ssize_t bytes = ::pread(descriptor_, start.data(), start.size(), 0);
  if (bytes < 0) throw cannot_write(path_, errno);
  start.resize(static_cast<std::size_t>(bytes));
  if (journal_title.starts_with(start) || start.find_first_not_of('\0') == std::string::npos)
    return;
  throw FileError(
      fmt::format("{}: exists but is not a journal; remove it, or choose another name for the "
                  "output",
                  path_.string()));
}

void StackJournal::open(const RunFingerprint& fingerprint) {
  // A file without a name belongs to a run that is just ending and has removed it.
  struct stat status {};
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 || ::fstat(descriptor_, &status) != 0 ||
      status.st_nlink == 0) {
    throw FileError(
        fmt::format("{}: another process is working on this run; wait for it", path_.string()));
  }
  const JournalScan::Trusted trusted = JournalScan(path_, fingerprint).trusted();
  if (trusted.end == 0) refuse_other_files();
  frames_ = trusted.frames;
  has_frames_ = frames_ > 0;
  last_reliable_ = trusted.last_reliable;
  origin_ = trusted.origin;
  if (::ftruncate(descriptor_, static_cast<off_t>(trusted.end)) != 0) {
    throw cannot_write(path_, errno);
  }
  readers_.emplace_back(path_, trusted.end);
  if (trusted.end == 0) write(header(fingerprint));
  write("boot " + present_boot());
}

void StackJournal::add_shards(const std::vector<Path>& paths) {
  for (const Path& path : paths) {
    shards_.push_back(std::make_unique<StackJournal>(path, fingerprint_));
    readers_.push_back(std::move(shards_.back()->readers_.front()));
    const std::optional<DriftOrigin>& other = shards_.back()->origin_;
    if (!other) continue;
    if (origin_ && origin_->frame != other->frame) {
      throw FileError(fmt::format(
          "{}: this part was registered to another frame than the others; remove it and run it "
          "again, and all parts with the same --to FRAME",
          path.string()));
    }
    origin_ = other;
  }
}

void StackJournal::write_origin(const DriftOrigin& origin) {
  write(origin_line(origin));
  origin_ = origin;
}

std::optional<JournalEntry> StackJournal::find(std::size_t index) {
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    if (const std::optional<StackFrame> frame = readers_[i].find(index)) return {{*frame, i > 0}};
  }
  return {};
}

void StackJournal::write(const std::string& line) {
  const std::string text = sealed(line);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw cannot_write(path_, errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void StackJournal::append(const StackFrame& frame) {
  has_frames_ = true;
  write(journal_line(frame));
}

void StackJournal::mark() {
  write("mark");
  if (::fdatasync(descriptor_) != 0) throw cannot_write(path_, errno);
}

void StackJournal::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  is_removed_ = true;
  for (const auto& shard : shards_) shard->remove();
}

}  // namespace warpalign::program
