// A file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include <sys/types.h>

namespace warpalign::program {

/// What becomes of a temporary file without commit().
enum class Unfinished {
  removed,
  kept  ///< under the target's name with ".partial" behind it, so that a later run may go on with
        ///< it
};

/// Writes to a temporary file in the target's folder, which commit() makes the target. Without
/// commit() nothing of it stays unless it is to be kept, also where the program is killed, and what
/// was at the target before stays untouched. (File systems without nameless files: the temporary
/// file stays where SIGKILL ends the program.) Every message names the target.
class AtomicFile {
 public:
  /// Creates the temporary file, which shows that the folder can be written to; opens the one that
  /// was kept, where there is one and `unfinished` is `kept`. Throws FileError.
  explicit AtomicFile(const std::filesystem::path& target,
                      Unfinished unfinished = Unfinished::removed);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends. Throws FileError.
  void write(std::span<const std::byte> bytes);
  /// Replaces bytes in the middle. Throws FileError.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Fills `bytes` from `offset` on; false where the file ends before. Throws FileError.
  [[nodiscard]] bool read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// The temporary file's size. Throws FileError.
  [[nodiscard]] std::uint64_t size() const;
  /// Cuts the file, and appends from there on. Throws FileError.
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

  std::filesystem::path named_;      ///< as the user wrote it
  std::filesystem::path target_;     ///< behind symbolic links
  std::filesystem::path temporary_;  ///< empty: the file has no name
  Unfinished unfinished_;
  int descriptor_ = -1;
  mode_t mode_ = 0600;  ///< with which the temporary file was made
};

}  // namespace warpalign::program
