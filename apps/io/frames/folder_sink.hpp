// Aligned frames as images in a folder.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/output_folder.hpp"

#include <filesystem>
#include <set>
#include <string>

namespace warpalign::program {

/// "0012_name.png": unique, and in the order of the frames. 8 and 16 bits as PNG, other pixels as
/// TIFF: formats that store them without loss. A frame that was not aligned has no file.
class FolderSink : public FrameSink {
 public:
  /// `expected`: about how many frames come; it decides how many digits the names have.
  /// `unfinished`: what a kill leaves of a frame that is being written. Throws FileError.
  FolderSink(const std::filesystem::path& folder, std::size_t expected, PixelType type,
             Unfinished unfinished = Unfinished::removed);

  /// Whether a frame of a file with one of these stems may be given this name.
  [[nodiscard]] static bool may_name(const std::filesystem::path& name,
                                     const std::set<std::string>& stems);

  [[nodiscard]] std::string name() const override { return folder_.path().string(); }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  void write(std::size_t index, const std::string& stem, const LoadedImage* aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;

 private:
  OutputFolder folder_;
  int digits_;
  FileFormat format_;
  Unfinished unfinished_;
};

}  // namespace warpalign::program
