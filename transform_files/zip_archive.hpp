// Archives of files that are stored one after the other (.zip, as numpy.savez writes them).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace warpalign::transform_files {

/// Whether the bytes start like an archive.
[[nodiscard]] bool is_zip(std::string_view bytes);
/// The files of an archive by name, which refer to its bytes. Throws Error(invalid_argument) for a
/// damaged archive, compressed files, and more than 65535 files or 4 GiB.
[[nodiscard]] std::map<std::string, std::string_view, std::less<>> files_of_zip(
    std::string_view bytes);

/// Writes an archive.
class ZipWriter {
 public:
  /// Throws Error(invalid_argument) if the archive becomes too large.
  void add(std::string_view name, std::string_view file);
  [[nodiscard]] std::string finish() &&;

 private:
  std::string archive_, directory_;
  std::size_t count_ = 0;
};

}  // namespace warpalign::transform_files
