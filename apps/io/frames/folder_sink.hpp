// Writes aligned frames as images to a folder.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/frames/recording_format.hpp"
#include "io/output_folder.hpp"

#include <filesystem>
#include <set>
#include <string>

namespace warpalign::program {

/// Names such as "0012_name.png" are unique and sort in the order of the frames. 8 and 16 bits are
/// written as PNG, other types as TIFF, both without loss. The planes of a frame that has several
/// are the pages of a TIFF, with the metadata of the recording. A frame that was not aligned has no
/// file.
class FolderSink : public FrameSink {
 public:
  /// `expected`: the approximate number of frames, which sets the number of digits in the names.
  /// `unfinished`: what happens to the temporary file of a frame if the process is killed. Throws
  /// FileError.
  FolderSink(const std::filesystem::path& folder, std::size_t expected, PixelType type,
             Unfinished unfinished = Unfinished::removed, RecordingFormat format = {});

  /// Whether this name could be given to a frame of a file with one of these stems.
  [[nodiscard]] static bool may_name(const std::filesystem::path& name,
                                     const std::set<std::string>& stems);

  [[nodiscard]] std::string name() const override { return folder_.path().string(); }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  void write(std::size_t index, const std::string& stem,
             std::span<const LoadedImage> aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;

 private:
  OutputFolder folder_;
  int digits_;
  FileFormat format_;
  RecordingFormat recording_;
  Unfinished unfinished_;
};

}  // namespace warpalign::program
