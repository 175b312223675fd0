// The journal of `stack --resume`, which records the result of each frame so that a later run can
// skip it.
#pragma once

#include "commands/journal_file.hpp"
#include "reports/stack_frame.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// Reads the valid lines of a journal in order. Numbers are restored exactly.
class JournalReader {
 public:
  /// `end`: the offset at which the valid lines end.
  JournalReader(const std::filesystem::path& path, std::uint64_t end);

  /// The entry of a frame, if there is one. Indices must ascend from call to call.
  [[nodiscard]] std::optional<StackFrame> find(std::size_t index);

 private:
  void advance();

  std::ifstream file_;
  std::uint64_t end_;
  std::optional<StackFrame> head_;
};

/// The journal entry of a frame.
struct JournalEntry {
  StackFrame frame;
  bool is_of_shard = false;  ///< it is in a journal of a shard only
};

/// Appends a line to a file for each frame as soon as the frame's outputs are written. The file is
/// locked, so that two processes cannot continue the same run.
///
/// A journal without frames is removed at the end, or overwritten if a killed process left it, even
/// if it belongs to a different run.
///
/// If the process is killed, at most the last line is incomplete; the next run truncates it. If the
/// machine crashes, the journal may contain frames whose outputs never reached the disk. After a
/// reboot only the frames before the last mark() are therefore valid.
class StackJournal {
 public:
  /// Opens or creates the journal. Throws FileError if it holds frames of a different run, or if
  /// another process has it open.
  StackJournal(const std::filesystem::path& path, const RunFingerprint& fingerprint);
  StackJournal(const StackJournal&) = delete;
  StackJournal& operator=(const StackJournal&) = delete;
  ~StackJournal();

  /// Adds the journals of shards, which this run then continues. Throws FileError, also if shards
  /// chose different origins.
  void add_shards(const std::vector<std::filesystem::path>& paths);

  /// The number of frames in this journal when it was opened, without those of shards.
  [[nodiscard]] std::size_t frames() const { return frames_; }
  /// The drift's origin that an earlier run or a shard chose, or null. A journal with frames that
  /// does not name one is of a run that started from frame 0.
  [[nodiscard]] const DriftOrigin* origin() const { return origin_ ? &*origin_ : nullptr; }
  /// Records the origin, before any frame. Throws FileError.
  void write_origin(const DriftOrigin& origin);
  /// The last reliable one of these frames.
  [[nodiscard]] std::optional<std::size_t> last_reliable() const { return last_reliable_; }
  /// The entry of a frame, if there is one. Indices must ascend, except that indices below one
  /// without an entry may be queried again.
  [[nodiscard]] std::optional<JournalEntry> find(std::size_t index);

  /// Throws FileError.
  void append(const StackFrame& frame);
  /// Records that the outputs of all frames so far have reached the disk. Throws FileError.
  void mark();
  /// Removes this journal and the shards' journals.
  void remove();

 private:
  JournalFile file_;
  RunFingerprint fingerprint_;
  std::size_t frames_ = 0;
  bool has_frames_ = false;
  bool is_removed_ = false;
  std::optional<std::size_t> last_reliable_;
  std::optional<DriftOrigin> origin_;
  std::vector<JournalReader> readers_;
  std::vector<std::unique_ptr<StackJournal>> shards_;
};

}  // namespace warpalign::program
