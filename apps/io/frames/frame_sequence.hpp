// Reads the frames of many files in order.
#pragma once

#include "io/frames/frame_source.hpp"
#include "io/frames/tiff_axes.hpp"

#include <memory>
#include <string>
#include <vector>

namespace warpalign::program {

/// Whether a file may be a pipe, which can be read only once. It must be a video.
[[nodiscard]] bool is_pipe(const std::string& file);

/// Reads images, TIFF stacks, .npy arrays and .y4m videos, which it distinguishes by content. "-"
/// is a video on standard input. All messages name the file or the frame.
class FrameSequence : public FrameSource {
 public:
  /// `files`: one or more, from input_files(). Each file is opened when its first frame is needed.
  /// A file that cannot be opened counts as one frame with `trouble`.
  FrameSequence(std::vector<std::string> files, const PlaneChoice& choice);

  /// The number of frames. Files that are not open yet count as one frame each.
  [[nodiscard]] FrameCount count() const override;
  [[nodiscard]] std::optional<Frame> next() override;
  bool skip() override;
  [[nodiscard]] std::string ended_early() const override { return ended_early_; }
  /// The format of the first file.
  [[nodiscard]] const VideoFormat* video() const override;
  /// That of the first file that has one. Files with other planes count as one frame with
  /// `trouble`.
  [[nodiscard]] const RecordingFormat* recording() const override;

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

 private:
  bool open_next();
  void check_planes();
  void close();
  template <typename Ask>
  auto first_answer(const Ask& ask);

  std::vector<std::string> files_;
  PlaneChoice choice_;
  std::size_t opened_ = 0;          ///< number of files opened
  std::size_t closed_frames_ = 0;   ///< frames of the files already closed
  std::size_t current_frames_ = 0;  ///< frames already read from the open file
  std::unique_ptr<FrameSource> current_;
  std::optional<VideoFormat> video_;
  std::optional<RecordingFormat> recording_;
  std::string ended_early_;
};

}  // namespace warpalign::program
