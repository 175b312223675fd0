// The file of a journal: lines with checksums, which one process at a time appends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace warpalign::program {

/// Two runs with the same fingerprint can continue each other.
struct RunFingerprint {
  std::uint64_t inputs = 0;
  std::uint64_t options = 0;
};

/// A journal's first line: `kind`, which is a name and the version, and the run.
[[nodiscard]] std::string journal_header(std::string_view kind, const RunFingerprint& fingerprint);
/// Throws FileError, which says whether inputs or options differ, for a journal of another run.
[[noreturn]] void refuse_other_run(const std::filesystem::path& path, const std::string& header,
                                   const std::string& wanted);

/// Locked while it is open, so that two processes cannot continue the same run.
class JournalFile {
 public:
  /// Opens or creates the file. Throws FileError, also if another process has it open.
  explicit JournalFile(const std::filesystem::path& path);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Throws FileError for a file that is no journal of this kind, so that it is not overwritten. A
  /// process that was killed at its start leaves an empty file or the beginning of a header, and a
  /// crash of the machine may leave zeros.
  void refuse_other_files(std::string_view kind) const;
  /// Drops what lies behind the valid lines. Throws FileError.
  void truncate(std::uint64_t end);
  /// Appends a line and its checksum. Throws FileError.
  void write(const std::string& line);
  /// Flushes the file to the disk. Throws FileError.
  void sync();
  void remove() noexcept;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace warpalign::program
