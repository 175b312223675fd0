// A file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace warpalign::program {

/// Writes to a temporary file in the target's folder, which commit() renames to the target.
/// Without commit() the destructor removes it (as do the signals that end a program, crashes
/// included), and what was at the target before stays untouched. Every message names the target.
class AtomicFile {
 public:
  /// Creates the temporary file, which shows that the folder can be written to. Throws FileError.
  explicit AtomicFile(const std::filesystem::path& target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends. Throws FileError.
  void write(std::span<const std::byte> bytes);
  /// Flushes the file to the disk and renames it to the target. Throws FileError.
  void commit();

 private:
  void remove_temporary() noexcept;

  std::filesystem::path named_;   ///< as the user wrote it
  std::filesystem::path target_;  ///< behind symbolic links
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

}  // namespace warpalign::program
