// A cache of byte strings in a folder, shared by processes.
//
// An entry is one file, named by the hash of its key. It begins with the hashes of its key and of
// its bytes, so that load() detects and ignores a damaged, truncated or foreign file. store()
// writes a file under a temporary name in the same folder and then renames it, so that a reader
// never sees an incomplete one. The contents are executed, so the cache trusts only a folder and
// files that belong to this user and that others cannot write.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace warpalign::detail {

class DiskCache {
 public:
  /// An empty folder name disables the cache. Removes temporary files of processes that were
  /// killed.
  explicit DiskCache(std::filesystem::path folder);

  [[nodiscard]] std::optional<std::string> load(std::string_view key) const;
  /// Returns why the bytes could not be stored, or an empty string if they were.
  std::string store(std::string_view key, std::string_view bytes) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace warpalign::detail
