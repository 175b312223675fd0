// A cache of byte strings in a folder, shared by processes.
//
// An entry is one file, named by the hash of its key. It begins with the hashes of its key and of
// its bytes, so that a damaged, truncated or foreign file is recognised and ignored. A file is
// written under a temporary name in the same folder and then renamed, so that a reader never sees
// an incomplete one. Only a folder and files that belong to this user and that others cannot write
// are trusted, because what is read from here is executed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace warpalign::detail {

class DiskCache {
 public:
  /// An empty folder name means no cache: nothing is found and nothing is stored.
  /// Removes what processes that were killed have left there.
  explicit DiskCache(std::filesystem::path folder);

  [[nodiscard]] std::optional<std::string> load(std::string_view key) const;
  /// Returns why the bytes could not be stored, or an empty string if they were.
  std::string store(std::string_view key, std::string_view bytes) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace warpalign::detail
