// A folder of outputs that are written once all of them are ready.
#pragma once

#include "io/atomic_file.hpp"
#include "io/image_file.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::program {

/// Collects files in memory. commit() writes them, each atomically. Without commit() nothing is
/// written, and a folder that was created is removed again.
class OutputFolder {
 public:
  /// Creates the folder if there is none, and checks that it can be written to. Throws FileError.
  explicit OutputFolder(const std::filesystem::path& path);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

  void add(const std::string& name, std::vector<std::byte> bytes);
  void add_text(const std::string& name, const std::string& text);
  void add_png(const std::string& name, const LoadedImage& image);

  /// Writes one file immediately, for outputs that are too large to collect. `unfinished`: what
  /// happens to the temporary file if the process is killed. Throws FileError.
  void write_now(const std::string& name, const std::vector<std::byte>& bytes,
                 Unfinished unfinished = Unfinished::removed);

  /// Writes the files in the order in which they were added. Throws FileError.
  void commit();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The names of the files added so far.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  ///< the folders created, innermost first
  std::vector<std::pair<std::string, std::vector<std::byte>>> files_;
  bool committed_ = false;
};

}  // namespace warpalign::program
