// The journal of `stack --resume`.
//
// Each line consists of words and a checksum. The first line identifies the run. An "origin" line
// names the frame from which the drift leads. A "boot" line names the boot of the machine during
// which the following lines were written. A "frame" line describes a frame. A "mark" line states
// that the outputs of all frames before it have reached the disk.
#include "commands/stack_journal.hpp"

#include "commands/journal_line.hpp"
#include "commands/journal_words.hpp"
#include "io/image_file.hpp"

#include <fmt/format.h>

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

constexpr std::string_view journal_kind = "warpalign-stack-journal 3";

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
    const std::string wanted = journal_header(journal_kind, fingerprint);
    if (position > 0 && header_ != wanted) {
      if (has_other_lines_) refuse_other_run(path, header_, wanted);
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
    : file_(path), fingerprint_(fingerprint) {
  const JournalScan::Trusted trusted = JournalScan(path, fingerprint).trusted();
  if (trusted.end == 0) file_.refuse_other_files(journal_kind);
  frames_ = trusted.frames;
  has_frames_ = frames_ > 0;
  last_reliable_ = trusted.last_reliable;
  origin_ = trusted.origin;
  file_.truncate(trusted.end);
  readers_.emplace_back(path, trusted.end);
  if (trusted.end == 0) file_.write(journal_header(journal_kind, fingerprint));
  file_.write("boot " + present_boot());
}

// Removes a journal without frames: it would only make the next run with other options fail.
StackJournal::~StackJournal() {
  if (!has_frames_ && !is_removed_) file_.remove();
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
  file_.write(origin_line(origin));
  origin_ = origin;
}

std::optional<JournalEntry> StackJournal::find(std::size_t index) {
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    if (const std::optional<StackFrame> frame = readers_[i].find(index)) return {{*frame, i > 0}};
  }
  return {};
}

void StackJournal::append(const StackFrame& frame) {
  has_frames_ = true;
  file_.write(journal_line(frame));
}

void StackJournal::mark() {
  file_.write("mark");
  file_.sync();
}

void StackJournal::remove() {
  file_.remove();
  is_removed_ = true;
  for (const auto& shard : shards_) shard->remove();
}

}  // namespace warpalign::program
