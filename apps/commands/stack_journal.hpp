// The journal of `stack --resume`: what has been done with each frame, so that it is not done
// again.
#pragma once

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

/// What two runs must have in common for one to go on with the other's work.
struct RunFingerprint {
  std::uint64_t inputs = 0;
  std::uint64_t options = 0;
};

/// The lines of a journal that can be trusted, in their order. Numbers come back exactly.
class JournalReader {
 public:
  /// `end`: where the trusted lines end.
  JournalReader(const std::filesystem::path& path, std::uint64_t end);

  /// The line of a frame, if there is one. Indices are asked for in ascending order.
  [[nodiscard]] std::optional<StackFrame> find(std::size_t index);

 private:
  void advance();

  std::ifstream file_;
  std::uint64_t end_;
  std::optional<StackFrame> head_;
};

/// What a journal knows of a frame.
struct JournalEntry {
  StackFrame frame;
  bool is_of_shard = false;  ///< and has no line in the journal itself
};

/// A file to which a line is appended for each frame as soon as its outputs are written. It is
/// locked: two processes cannot go on with one run.
///
/// One that holds no frame is removed in the end, or begun anew where a kill has left it, whoever's
/// it is.
///
/// A kill leaves at most a part of a line, which is cut off. After a crash of the machine lines may
/// be on the disk whose outputs are not: then only those are trusted that stand before the last
/// mark() of the boot before.
class StackJournal {
 public:
  /// Opens the journal, or begins one. Throws FileError where it holds frames of another run, or
  /// another process has it open.
  StackJournal(const std::filesystem::path& path, const RunFingerprint& fingerprint);
  StackJournal(const StackJournal&) = delete;
  StackJournal& operator=(const StackJournal&) = delete;
  ~StackJournal();

  /// Adds the journals of shards, which this run then goes on with, too. Throws FileError.
  void add_shards(const std::vector<std::filesystem::path>& paths);

  /// How many frames this journal had when it was opened, without those of shards.
  [[nodiscard]] std::size_t frames() const { return frames_; }
  /// The last frame among them that is reliable.
  [[nodiscard]] std::optional<std::size_t> last_reliable() const { return last_reliable_; }
  /// What is known of a frame. Indices are asked for in ascending order, but that those before one
  /// of which nothing is known may be asked for again.
  [[nodiscard]] std::optional<JournalEntry> find(std::size_t index);

  /// Throws FileError.
  void append(const StackFrame& frame);
  /// Notes that the outputs of all frames so far are on the disk. Throws FileError.
  void mark();
  /// Removes this journal and the shards' journals.
  void remove();

 private:
  void refuse_other_files() const;
  void open(const RunFingerprint& fingerprint);
  void write(const std::string& line);

  std::filesystem::path path_;
  RunFingerprint fingerprint_;
  int descriptor_ = -1;
  std::size_t frames_ = 0;
  bool has_frames_ = false;
  bool is_removed_ = false;
  std::optional<std::size_t> last_reliable_;
  std::vector<JournalReader> readers_;
  std::vector<std::unique_ptr<StackJournal>> shards_;
};

}  // namespace warpalign::program
