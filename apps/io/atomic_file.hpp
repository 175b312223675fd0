// A file that appears complete or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include <sys/types.h>

namespace warpalign::program {

/// What happens to the temporary file without commit().
enum class Unfinished {
  removed,
  kept  ///< as the target's name with ".partial" appended, so that a later run can continue it
};

/// Writes to a temporary file in the target's folder; commit() renames it to the target. Without
/// commit(), even if the process is killed, an existing target stays unchanged and the temporary
/// file disappears unless it is to be kept. (On file systems without unnamed files, SIGKILL leaves
/// the temporary file behind.) Every message names the target.
class AtomicFile {
 public:
  /// Creates the temporary file, which proves that the folder is writable, or opens the kept one if
  /// there is one and `unfinished` is `kept`. Throws FileError.
  explicit AtomicFile(const std::filesystem::path& target,
                      Unfinished unfinished = Unfinished::removed);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends. Throws FileError.
  void write(std::span<const std::byte> bytes);
  /// Overwrites bytes in the middle. Throws FileError.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Reads into `bytes` from `offset`. Returns false if the file ends before. Throws FileError.
  [[nodiscard]] bool read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// The temporary file's size. Throws FileError.
  [[nodiscard]] std::uint64_t size() const;
  /// Truncates the file, and appends from there. Throws FileError.
  void truncate(std::uint64_t size);
  /// Flushes the file to the disk. Throws FileError.
  void sync();
  /// Flushes the file to the disk and renames it to the target. Throws FileError.
  void commit();

 private:
  void make_temporary();
  void open_partial();
  void give_name();
  void remove_temporary() noexcept;

  std::filesystem::path named_;      ///< as the user typed it
  std::filesystem::path target_;     ///< with symbolic links resolved
  std::filesystem::path temporary_;  ///< empty if the file has no name
  Unfinished unfinished_;
  int descriptor_ = -1;
  mode_t mode_ = 0600;  ///< of the temporary file at creation
};

}  // namespace warpalign::program
